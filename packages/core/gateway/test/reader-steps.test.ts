// A text that takes a reader time in proportion to its square stops the one thread that serves everybody. Steps are counted, not
// seconds: for four times the text no reader here takes more than about four times the steps.
import { isTraceparent } from "@svc/contract";
import { worstGrowth } from "@svc/steps";
import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { bearerToken, upgradeCredentials } from "../src/auth/authenticator.ts";
import { browserName, sentCookie } from "../src/auth/page-sessions.ts";
import { acceptsGzip, isKnown } from "../src/http/reply.ts";
import { isJsonType, pathPattern, targetOf } from "../src/http/request.ts";
import { forwardedAddress, hasForwardingHeader, hopAddress } from "../src/client.ts";
import { hostRules } from "../src/pipeline.ts";
import { prefersAsync, secretCheck } from "../src/routes/webhook.ts";
import { hashedSecret } from "@svc/config";

const rules = hostRules({ allowedHosts: ["a"], publicUrl: "https://b", port: 1 });
const target = (url: string) => targetOf({ url } as IncomingMessage);

const READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ["X-Webhook-Secret", secretCheck(hashedSecret("s3cret"))!],
  ["Authorization", bearerToken],
  ["Authorization: Bearer", (text) => bearerToken(`Bearer ${text}`)],
  ["Cookie before ours", (text) => sentCookie(`${text}; svc_session=1`)],
  ["Cookie behind ours", (text) => sentCookie(`svc_session=${text}`)],
  ["Sec-WebSocket-Protocol", (text) => upgradeCredentials({ "sec-websocket-protocol": text })],
  ["Prefer", (text) => prefersAsync({ prefer: text })],
  ["Content-Type", isJsonType],
  ["Content-Type: application/json", (text) => isJsonType(`application/json${text}`)],
  ["X-Forwarded-For", (text) => forwardedAddress({ "x-forwarded-for": text })],
  ["X-Real-IP", (text) => forwardedAddress({ "x-real-ip": text })],
  ["one hop", hopAddress],
  ["the name of a header", (text) => hasForwardingHeader({ [`x-${text}`]: "" })],
  [
    "names of headers",
    (text) => hasForwardingHeader(Object.fromEntries(Array.from(text, (one, at) => [`${one}${at}`, ""]))),
  ],
  ["Host", rules.allowsHost],
  ["Origin", (text) => rules.allowsOrigin(text, text)],
  ["Origin: http://", (text) => rules.allowsOrigin(`http://${text}`, text)],
  ["Accept-Encoding", acceptsGzip],
  ["If-None-Match", (text) => isKnown({ "if-none-match": text }, 'W/"x"')],
  ["User-Agent", browserName],
  ["traceparent", isTraceparent],
  ["traceparent: 00-", (text) => isTraceparent(`00-${text}`)],
  ["path", (text) => target(`/${text}`)],
  ["absolute target", (text) => target(`http://${text}`)],
  ["path and pattern", (text) => pathPattern("/api/sops/{name}/runs/{id}").test(`/api/sops/${text}`)],
];

test.each(READERS)("%s", (_name, read) => expect(worstGrowth(read)).toSatisfy(({ times }) => times > 0.5 && times < 6));
