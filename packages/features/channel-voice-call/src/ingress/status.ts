/**
 * `/voice-call/status`: what became of a call. https://www.twilio.com/docs/voice/api/call-resource#statuscallback
 * Whoever was called is a message of ours that was delivered, or was not.
 */
import type { DeliveryUpdate, Ingress, Parsed } from "@svc/contract";
import { OVER } from "../calls/call.ts";
import type { IngressParts } from "./parts.ts";
import { PATHS } from "./paths.ts";
import { signatureCheck } from "./verify.ts";
import { twiml, type Webhook, webhookOf } from "./webhook.ts";

export function callStates(parts: IngressParts): Ingress {
  const { config, base, documents } = parts;
  return {
    path: PATHS.status,
    methods: ["POST"],
    signed: true,
    verify: signatureCheck(config.auth_token, base),
    parse(request) {
      const webhook = webhookOf(request);
      const updates = webhook ? updatesOf(parts, webhook) : [];
      return { updates, reply: twiml(documents.nothing) } satisfies Parsed;
    },
  };
}

const UNDER_WAY: ReadonlyMap<string, DeliveryUpdate["status"]> = new Map([
  ["initiated", "sent"],
  ["queued", "sent"],
  ["ringing", "sent"],
  ["in-progress", "delivered"],
  ["completed", "delivered"],
]);

/** Sentences of ours. */
const FAILED: ReadonlyMap<string, string> = new Map([
  ["busy", "The line was busy."],
  ["no-answer", "Nobody answered."],
  ["failed", "The call could not be put through."],
  ["canceled", "The call was called off before anybody answered."],
]);

function updatesOf({ calls, log }: IngressParts, webhook: Webhook): DeliveryUpdate[] {
  const { sid, isOutgoing, field, nowMs } = webhook;
  const status = field("CallStatus") ?? "";
  const reason = FAILED.get(status);
  const known = UNDER_WAY.get(status);
  if (reason === undefined && known === undefined) return [];
  const call = calls.get(sid);
  if (call) call.seenAtMs = nowMs;
  if (reason !== undefined || status === "completed") {
    // Before a document is asked for once more, so that nothing is said to nobody.
    call?.end(reason ?? OVER, nowMs, reason === undefined);
    const secs = /^[0-9]{1,6}$/.exec(field("CallDuration") ?? "")?.[0];
    log.info("a call is over", { call: sid, how: status, secs, answeredBy: answeredBy(webhook) });
  }
  if (!isOutgoing) return [];
  return [{ platformId: sid, ...(reason === undefined ? { status: known! } : { status: "failed", reason }) }];
}

/** Where it was to be found out: a person, or a machine. */
const answeredBy = ({ field }: Webhook): string | undefined => /^[a-z_]{1,40}$/.exec(field("AnsweredBy") ?? "")?.[0];
