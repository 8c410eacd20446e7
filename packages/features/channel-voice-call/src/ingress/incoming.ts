/** `/voice-call`: somebody calls. */
import type { Ingress, Parsed } from "@svc/contract";
import { firstPlace } from "../calls/place.ts";
import { began } from "./notice.ts";
import type { IngressParts } from "./parts.ts";
import { PATHS } from "./paths.ts";
import { signatureCheck } from "./verify.ts";
import { twiml, type Webhook, webhookOf } from "./webhook.ts";

export function incomingCalls(parts: IngressParts): Ingress {
  const { config, base, documents } = parts;
  return {
    path: PATHS.incoming,
    methods: ["POST"],
    signed: true,
    verify: signatureCheck(config.auth_token, base),
    parse(request) {
      const webhook = webhookOf(request);
      return webhook ? answered(parts, webhook) : { reply: twiml(documents.nothing) };
    },
  };
}

function answered(parts: IngressParts, webhook: Webhook): Parsed {
  const { config, calls, dialogue, documents, letsIn, log } = parts;
  const { sid, person, nowMs } = webhook;
  if (!letsIn(person.id)) return { reply: twiml(documents.refusal) };
  if (config.verified_callers_only && !isVouchedFor(webhook.field("StirVerstat"))) {
    log.info("a call was refused: nobody vouches for the caller's number", { call: sid });
    return { reply: twiml(documents.refusal) };
  }
  const call = calls.open({ sid, person, place: firstPlace(nowMs), seenAtMs: nowMs });
  return { notices: [began(sid)], reply: twiml(dialogue.greeting(call, nowMs)) };
}

/** https://www.twilio.com/docs/voice/trusted-calling-with-shakenstir: A and B say that the caller may use the number. */
const isVouchedFor = (stir: string | undefined): boolean =>
  stir !== undefined && /^TN-Validation-Passed-[AB](?:-|$)/.test(stir);
