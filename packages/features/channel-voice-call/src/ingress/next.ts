/** `/voice-call/next`: the platform has done what it was told, and asks what comes next. */
import type { Ingress } from "@svc/contract";
import { answerOnce } from "./answer-once.ts";
import type { IngressParts } from "./parts.ts";
import { PATHS } from "./paths.ts";
import { signatureCheck } from "./verify.ts";
import { twiml, type Webhook, webhookOf } from "./webhook.ts";

export function nextDocuments(parts: IngressParts): Ingress {
  const { config, base, documents } = parts;
  return {
    path: PATHS.next,
    methods: ["POST"],
    signed: true,
    verify: signatureCheck(config.auth_token, base),
    parse(request) {
      const webhook = webhookOf(request);
      return { reply: twiml(webhook ? documentAfter(parts, webhook) : documents.nothing) };
    },
  };
}

function documentAfter(parts: IngressParts, webhook: Webhook): string {
  const { calls, dialogue } = parts;
  const { sid, person, place, nowMs } = webhook;
  const call = calls.open({ sid, person, place, seenAtMs: nowMs });
  return answerOnce(parts, call, webhook, { path: PATHS.next, answer: () => dialogue.goOn(call, nowMs) });
}
