/**
 * Says something in a call that is going on. While the line is held, an update of the call says it at once; else the platform
 * comes for it when it has said what it is saying, or has heard the caller. So nothing is cut off, and what was on its way when an
 * answer was lost is said once: the next webhook tells whether it was heard.
 */
import { type FeatureContext, SvcError } from "@svc/contract";
import { unlessAborted } from "@svc/kit";
import { type Call, OVER } from "../calls/call.ts";
import type { Dialogue } from "../calls/dialogue.ts";
import type { Utterance } from "../calls/utterance.ts";
import type { PlatformApi } from "../platform/api.ts";
import type { Words } from "./message.ts";
import type { Speaker } from "./speaker.ts";

export interface SayParts {
  readonly api: PlatformApi;
  readonly dialogue: Dialogue;
  readonly speaker: Speaker;
  readonly clock: FeatureContext["clock"];
}

/** Above all the documents that hold the line meanwhile, so that a webhook of theirs is known to be late. */
const PUSHED_STEPS = 1_000;

/**
 * Resolves when the platform has it. Throws DELIVERY_REFUSED when it is not going to be said, CHANNEL_UNAUTHORIZED, or the
 * signal's reason: then it may be tried again.
 */
export async function sayInCall(parts: SayParts, call: Call, words: Words, signal: AbortSignal): Promise<void> {
  const { speaker } = parts;
  const utterance = call.add(words);
  try {
    if (call.isWaiting(utterance)) {
      const spoken = await speaker.speak(words.text, signal);
      utterance.spoken = spoken;
      call.atEnd(() => speaker.drop(spoken));
      await push(parts, call, signal);
    }
    await unlessAborted(utterance.ended, signal);
  } finally {
    call.remove(utterance);
  }
}

/** What is not pushed is fetched by the platform within seconds. */
async function push({ api, dialogue, clock }: SayParts, call: Call, signal: AbortSignal): Promise<void> {
  const utterance = call.next;
  if (!utterance?.spoken || call.doing !== "holding" || call.pushing) return;
  const after = dialogue.placeAfter(call.place, utterance, clock.now());
  const place = { ...after, step: after.step + PUSHED_STEPS };
  call.pushing = utterance;
  try {
    const twiml = dialogue.words(call.person.id, utterance, utterance.spoken, place);
    const taken = await api.updateCall(call.sid, { Twiml: twiml }, signal);
    if (taken === undefined) return call.end(OVER, clock.now());
    call.place = place;
    call.doing = "busy";
    call.wasSaid(utterance);
  } catch (error) {
    refuse(call, utterance, error);
  } finally {
    call.pushing = undefined;
  }
}

/** Whatever else went wrong: the next webhook tells whether the caller hears it, and else it is fetched. */
function refuse(call: Call, utterance: Utterance, error: unknown): void {
  const isRefused = error instanceof SvcError && ["CHANNEL_UNAUTHORIZED", "DELIVERY_REFUSED"].includes(error.code);
  if (!isRefused) return void (call.doing = "unknown");
  call.remove(utterance);
  utterance.failed(error);
}
