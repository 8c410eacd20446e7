/** Calls somebody up to say something. https://www.twilio.com/docs/voice/api/call-resource#create-a-call */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import type { Calls } from "../calls/calls.ts";
import type { Dialogue } from "../calls/dialogue.ts";
import { firstPlace } from "../calls/place.ts";
import { Utterance } from "../calls/utterance.ts";
import type { Config } from "../config.ts";
import { PATHS } from "../ingress/paths.ts";
import { CALL_SID } from "../ingress/webhook.ts";
import { fieldsOf, listOf } from "@svc/kit";
import type { PlatformApi } from "../platform/api.ts";
import type { Spoken } from "../twiml/documents.ts";
import type { Words } from "./message.ts";
import type { PlacedCalls } from "./placed-calls.ts";
import type { Speaker } from "./speaker.ts";

export interface PlaceParts {
  readonly config: Config;
  readonly base: string;
  readonly api: PlatformApi;
  readonly calls: Calls;
  readonly dialogue: Dialogue;
  readonly speaker: Speaker;
  readonly placed: PlacedCalls;
  readonly clock: FeatureContext["clock"];
}

/** Resolves with the call's SID, which may be unknown. The same delivery again places no second call. */
export async function placeCall(
  parts: PlaceParts,
  number: string,
  words: Words,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { placed, clock } = parts;
  const before = await placed.of(words.deliveryId);
  if (before?.sid !== undefined) return before.sid;
  const found = before && (await findCall(parts, number, before.atMs, signal));
  if (found !== undefined) {
    await placed.note(words.deliveryId, { ...before!, sid: found });
    return found;
  }
  const spoken = await parts.speaker.speak(words.text, signal);
  const atMs = before?.atMs ?? clock.now();
  await placed.note(words.deliveryId, { atMs });
  const sid = await ring(parts, number, words, spoken, signal);
  // A disk that is full is no reason to ring again: it is known as long as this process lives.
  if (sid !== undefined) await placed.note(words.deliveryId, { atMs, sid }).catch(() => undefined);
  return sid;
}

async function ring(
  { config, base, api, calls, dialogue, speaker, placed, clock }: PlaceParts,
  number: string,
  words: Words,
  spoken: Spoken,
  signal: AbortSignal,
): Promise<string | undefined> {
  const nowMs = clock.now();
  const utterance = new Utterance(words);
  const place = dialogue.placeAfter(firstPlace(nowMs), utterance, nowMs);
  const form = {
    To: number,
    From: config.from_number,
    Twiml: dialogue.words(number, utterance, spoken, place),
    Timeout: config.ring_secs,
    TimeLimit: config.max_call_secs,
    StatusCallback: `${base}${PATHS.status}`,
    StatusCallbackMethod: "POST",
    StatusCallbackEvent: ["initiated", "ringing", "answered", "completed"],
    ...(config.detect_voicemail && { MachineDetection: "DetectMessageEnd" }),
  };
  try {
    const sid = sidOf((await api.post("/Calls", form, signal))["sid"]);
    if (sid === undefined) return undefined;
    const person = { id: number, isKnown: true };
    // The platform may have told of it before it answered.
    const call = calls.open({ sid, person, place, seenAtMs: nowMs });
    call.wasSaid(utterance);
    call.atEnd(() => speaker.drop(spoken));
    return sid;
  } catch (error) {
    // Who refuses has rung nobody up; of the rest nobody knows.
    if (error instanceof SvcError && isRefusal(error)) await placed.forget(words.deliveryId).catch(() => undefined);
    throw error;
  }
}

const isRefusal = ({ code, retryAfterMs }: SvcError): boolean =>
  code === "CHANNEL_UNAUTHORIZED" || code === "DELIVERY_REFUSED" || retryAfterMs !== undefined;

const sidOf = (value: Json | undefined): string | undefined =>
  typeof value === "string" && CALL_SID.test(value) ? value : undefined;

/** The platform's clock and ours. */
const CLOCKS_MS = 60_000;

/** The call that was placed for a delivery although nobody learnt of it: the first since then that is no other delivery's. */
async function findCall(
  { config, api, placed }: PlaceParts,
  number: string,
  sinceMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = { To: number, From: config.from_number, PageSize: "50" };
  const { calls } = await api.get("/Calls", query, signal);
  const sids = listOf(calls).flatMap((call) => {
    const { sid, direction, date_created: date } = fieldsOf(call);
    const createdMs = typeof date === "string" ? Date.parse(date) : Number.NaN;
    const known = sidOf(sid);
    const fits = direction === "outbound-api" && createdMs >= sinceMs - CLOCKS_MS;
    return known !== undefined && fits && !placed.hasCall(known) ? [known] : [];
  });
  // Newest first.
  return sids.at(-1);
}
