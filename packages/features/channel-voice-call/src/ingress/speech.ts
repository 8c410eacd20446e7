/** `/voice-call/speech`: the caller has said something, or pressed a key. */
import { DEDUPE_MS, type Inbound, type Ingress, type Parsed } from "@svc/contract";
import { CHANNEL } from "../names.ts";
import { answerOnce } from "./answer-once.ts";
import { heardOf } from "./heard.ts";
import type { IngressParts } from "./parts.ts";
import { PATHS } from "./paths.ts";
import { sampleSpeech } from "./sample.ts";
import { signatureCheck } from "./verify.ts";
import { twiml, type Webhook, webhookOf } from "./webhook.ts";

export function callersSpeech(parts: IngressParts): Ingress {
  const { config, base, documents, letsIn } = parts;
  return {
    path: PATHS.speech,
    methods: ["POST"],
    signed: true,
    // What was said is in no webhook twice; an older one is a replay whose id was forgotten.
    maxAgeMs: DEDUPE_MS,
    verify: signatureCheck(config.auth_token, base),
    parse(request) {
      const webhook = webhookOf(request);
      if (!webhook) return { reply: twiml(documents.nothing) };
      // Whom we called, and who is not on the list, was asked nothing.
      if (!letsIn(webhook.person.id)) return { reply: twiml(documents.ending(undefined)) };
      return heardIn(parts, webhook);
    },
    ...(base !== undefined && { sample: (message) => sampleSpeech(message, config, base) }),
  };
}

function heardIn(parts: IngressParts, webhook: Webhook): Parsed {
  const { calls, dialogue, config } = parts;
  const { sid, person, place, nowMs } = webhook;
  const call = calls.open({ sid, person, place, seenAtMs: nowMs });
  const heard = heardOf(webhook, config.recognizer);
  const answer = (): string => {
    if (!heard) return dialogue.goOn(call, nowMs);
    call.spoke(place.turn);
    return dialogue.heard(call, nowMs);
  };
  const reply = twiml(answerOnce(parts, call, webhook, { path: PATHS.speech, answer }));
  return heard ? { inbound: [inboundOf(webhook, heard)], reply } : { reply };
}

/**
 * The conversation is the caller's and goes on in the next call; who hides the number has one for each call. The call itself
 * is where the answer goes to.
 */
function inboundOf({ sid, person, place, field }: Webhook, heard: Pick<Inbound, "text" | "media" | "choice">): Inbound {
  const name = field("CallerName")?.slice(0, 100);
  return {
    id: `${sid}.${place.turn}`,
    conversation: { channel: CHANNEL, id: person.id, ...(!person.isKnown && { thread: sid }) },
    sender: person.id,
    ...(name !== undefined && { senderName: name }),
    ...heard,
    sentAtMs: place.atMs,
    replyData: { call: sid, turn: place.turn },
  };
}
