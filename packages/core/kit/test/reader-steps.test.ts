// A text that takes a reader time in proportion to its square stops the one thread that serves everybody. Steps are counted, not
// seconds: for four times the text no reader here takes more than about four times the steps.
import { worstGrowth } from "@svc/steps";
import { expect, test } from "vitest";
import { fenceLeftOpen, isPlainlyFenced, splitText } from "../src/answer-parts.ts";
import { authenticityOf } from "../src/mail/authenticity.ts";
import {
  type Headers,
  addressOf,
  automaticBy,
  headerText,
  headersFrom,
  isReply,
  mailboxOf,
  messageIdsIn,
  nameOf,
  parameterOf,
  readable,
  replaceQuoted,
  threadPlaceOf,
} from "../src/mail/headers.ts";
import { htmlToText } from "../src/mail/html-text.ts";
import { withoutQuote, withoutSignature } from "../src/mail/quoted.ts";
import { isCanonicalPath } from "../src/request-path.ts";
import { retryAfterMs } from "../src/platform-call.ts";
import { verifyWebhook, webhookKeyOf } from "../src/signatures.ts";

/** A mail with this in each header that is looked at. */
const mail = (text: string): Headers =>
  headersFrom(
    ["authentication-results", "auto-submitted", "precedence", "from", "content-type", "return-path", "list-id"]
      .concat("subject", "references", "in-reply-to", "message-id", "x-auto-response-suppress")
      .map((name) => [name, text]),
  );

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["path of a request", (text) => isCanonicalPath(`/${text}`)],
  ["quoted strings", (text) => replaceQuoted(text, "x")],
  ["Retry-After", (text) => retryAfterMs(text, 0)],
  [
    "webhook-signature",
    (text) => verifyWebhook(Buffer.from("k"), { id: "a", timestamp: "1", body: Buffer.of() }, text),
  ],
  ["whsec_", (text) => webhookKeyOf(`whsec_${text}`)],
  ["a long answer", (text) => splitText(text, 20)],
  ["code fences", (text) => [fenceLeftOpen(text), isPlainlyFenced(text)]],
  ["HTML of a mail", htmlToText],
  ["encoded words", readable],
  ["a parameter", (text) => parameterOf(text, "charset")],
  ["a header to send", headerText],
  ["From", (text) => [addressOf(text), nameOf(text), mailboxOf(text)]],
  ["References", messageIdsIn],
  ["a thread", (text) => [threadPlaceOf(mail(text)), isReply(mail(text))]],
  ["Authentication-Results", (text) => authenticityOf(mail(text), "a@b.example", undefined)],
  ["Authentication-Results of a server", (text) => authenticityOf(mail(`mx; ${text}`), "a@b.example", "mx")],
  ["who answers by itself", (text) => automaticBy(mail(text), text)],
  ["a quoted mail", withoutQuote],
  ["a signature below a mail", withoutSignature],
];

test.each(READERS)("%s", (_name, read) => expect(worstGrowth(read)).toSatisfy(({ times }) => times > 0.5 && times < 6));
