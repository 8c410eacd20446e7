/** Messages that go out: into the call that is going on, or by a call that is placed for them. */
import {
  type Channel,
  type FeatureContext,
  type Json,
  type OutgoingMessage,
  type Prompt,
  type Receipt,
  SvcError,
} from "@svc/contract";
import { fieldsOf, listOf, parseJson, unlessAborted } from "@svc/kit";
import type { PlatformApi } from "./api.ts";
import { type Call, type Calls, type NewUtterance, OVER, Utterance, stopped } from "./calls.ts";
import type { Config } from "./config.ts";
import type { Dialogue } from "./dialogue.ts";
import { type Asked, CALL_SID, initialProgress } from "./progress.ts";
import { PATHS, type Person, numberOf } from "./protocol.ts";
import type { Speaker } from "./speaker.ts";
import { type Spoken, sayable } from "./twiml.ts";

type Sender = (message: OutgoingMessage, prompt: Prompt | undefined, signal: AbortSignal) => Promise<Receipt>;

/**
 * An answer is said in its own call or not at all: no one is rung up for it. What someone decided to say, and what the config
 * says that its `notification_target` is told, places a call.
 */
export function messageSender(deps: PlaceDeps): Sender {
  return async (message, prompt, signal) => {
    signal.throwIfAborted();
    if (deps.calls.isStopped) throw stopped();
    const words = await wordsOf(message, deps.config, prompt);
    // Nothing that can be heard, such as a line across the page.
    if (words.text === "") return {};
    const reply = replyOf(message.replyData);
    if (!reply) return toNumber(deps, message, words, signal);
    const { id, thread } = message.conversation;
    const call = await callOf(deps, reply.call, { id, isKnown: thread === undefined }, signal);
    await sayInCall(deps, call, words, signal);
    return {};
  };
}

async function toNumber(
  deps: PlaceDeps,
  { conversation: { channel, id }, mayOpen, deliveryId }: OutgoingMessage,
  words: Words,
  signal: AbortSignal,
): Promise<Receipt> {
  const number = numberOf(id);
  const opened = number === id ? {} : { opened: { channel, id: number } };
  const wasPlaced = (await deps.placed.of(deliveryId)) !== undefined;
  const call = wasPlaced ? undefined : await callWith(deps, number, signal);
  if (call) {
    await sayInCall(deps, call, words, signal);
    return opened;
  }
  if (mayOpen !== true && !isTarget(deps, number)) throw noCall();
  const whyNot = wasPlaced ? undefined : deps.calls.restOf(number, words.goesOn, deps.clock.now());
  if (whyNot !== undefined) throw new SvcError("DELIVERY_REFUSED", whyNot);
  const sid = await placeCall(deps, number, words, signal);
  return { ...(sid !== undefined && { platformId: sid }), ...opened };
}

function isTarget({ config: { notification_target: target } }: PlaceDeps, number: string): boolean {
  return target !== undefined && target.replaceAll(/[\s().-]/g, "") === number;
}

const noCall = (): SvcError =>
  new SvcError("DELIVERY_REFUSED", "There is no call with this number, and none is placed for an answer or a notice.", {
    hint: "channel_send and svc send place calls; questions and notices call notification_target.",
  });

export const asChannel = (send: Sender): Required<Pick<Channel, "send" | "prompts">> => ({
  send: (message, signal) => send(message, undefined, signal),
  prompts: { post: (message, prompt, signal) => send(message, prompt, signal) },
});

/** Whether a call is still going on, which the platform does not always tell by itself. */
export interface LiveDeps {
  readonly api: PlatformApi;
  readonly calls: Calls;
  readonly clock: FeatureContext["clock"];
}

/** A call that was heard of so lately needs no question. */
const LATELY_MS = 30_000;

const GOING_ON: ReadonlySet<unknown> = new Set(["queued", "ringing", "in-progress"]);

/** The call of that SID; it may be from before this process. It may be over. */
async function callOf(deps: LiveDeps, sid: string, person: Person, signal: AbortSignal): Promise<Call> {
  const { calls, clock } = deps;
  const known = calls.get(sid);
  if (known && (known.over !== undefined || clock.now() - known.seenAtMs < LATELY_MS)) return known;
  // Before the first webhook in this process the progress is unknown: any webhook is newer.
  const progress = { ...initialProgress(clock.now()), step: 0 };
  return asked(deps, known ?? calls.open({ sid, person, progress, seenAtMs: clock.now() }), signal);
}

/** The call that goes on with this person; undefined: none does. */
async function callWith(deps: LiveDeps, person: string, signal: AbortSignal): Promise<Call | undefined> {
  for (let call = deps.calls.liveWith(person); call; call = deps.calls.liveWith(person)) {
    if ((await asked(deps, call, signal)).over === undefined) return call;
  }
  return undefined;
}

async function asked({ api, clock }: LiveDeps, call: Call, signal: AbortSignal): Promise<Call> {
  const fields = await api.getCall(call.sid, signal);
  if (GOING_ON.has(fields?.["status"])) call.seenAtMs = clock.now();
  else call.end(OVER, clock.now());
  return call;
}

/** Places a call to speak a message. https://www.twilio.com/docs/voice/api/call-resource#create-a-call */
interface PlaceDeps {
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
async function placeCall(
  deps: PlaceDeps,
  number: string,
  words: Words,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { placed, clock } = deps;
  const before = await placed.of(words.deliveryId);
  if (before?.sid !== undefined) return before.sid;
  const found = before && (await findCall(deps, number, before.atMs, signal));
  if (found !== undefined) {
    await placed.note(words.deliveryId, { ...before!, sid: found });
    return found;
  }
  const spoken = await deps.speaker.speak(words.text, signal);
  const atMs = before?.atMs ?? clock.now();
  await placed.note(words.deliveryId, { atMs });
  const sid = await ring(deps, number, words, spoken, signal);
  // A disk that is full is no reason to ring again: it is known as long as this process lives.
  if (sid !== undefined) await placed.note(words.deliveryId, { atMs, sid }).catch(() => undefined);
  return sid;
}

async function ring(
  { config, base, api, calls, dialogue, speaker, placed, clock }: PlaceDeps,
  number: string,
  words: Words,
  spoken: Spoken,
  signal: AbortSignal,
): Promise<string | undefined> {
  const nowMs = clock.now();
  const utterance = new Utterance(words);
  const progress = dialogue.progressAfter(initialProgress(nowMs), utterance, nowMs);
  const form = {
    To: number,
    From: config.from_number,
    Twiml: dialogue.words(number, utterance, spoken, progress),
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
    const call = calls.open({ sid, person, progress, seenAtMs: nowMs });
    call.wasSaid(utterance);
    call.atEnd(() => speaker.drop(spoken));
    return sid;
  } catch (error) {
    // Who refuses has rung no one up; of the rest no one knows.
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

/** The call that was placed for a delivery although no one learnt of it: the first since then that is no other delivery's. */
async function findCall(
  { config, api, placed }: PlaceDeps,
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

/**
 * Which call was placed for which delivery. The platform takes no idempotency key: what is not known here would ring a phone
 * twice, when an answer is lost and when the process dies between the call and our note of its end.
 */
export interface Placed {
  /** When it was about to be placed, milliseconds since the epoch. */
  readonly atMs: number;
  /** Undefined: no one knows whether it was. */
  readonly sid?: string;
}

interface PlacedCalls {
  of(deliveryId: string): Promise<Placed | undefined>;
  /** Resolves once it is on disk; rejects with STORE_*: then no call may be placed. */
  note(deliveryId: string, placed: Placed): Promise<void>;
  /** Nothing was placed. */
  forget(deliveryId: string): Promise<void>;
  /** Whether it is the call of some delivery. */
  hasCall(sid: string): boolean;
}

/** Longer than any retry. */
const MOST = 1_000;
const NAME = "placed-calls";

export function placedCalls({ state }: Pick<FeatureContext, "state">): PlacedCalls {
  let loading: Promise<Map<string, Placed>> | undefined;
  let known: Map<string, Placed> = new Map();
  const load = (): Promise<Map<string, Placed>> =>
    (loading ??= state.get(NAME).then(
      (text) => (known = callsOf(text)),
      (error: unknown) => {
        // What could not be read now may be read by the next try.
        loading = undefined;
        throw error;
      },
    ));
  const keep = (): Promise<void> => state.set(NAME, JSON.stringify([...known]));
  return {
    of: async (deliveryId) => (await load()).get(deliveryId),
    async note(deliveryId, placed) {
      await load();
      known.delete(deliveryId);
      known.set(deliveryId, placed);
      for (const oldest of known.keys()) if (known.size > MOST) known.delete(oldest);
      await keep();
    },
    async forget(deliveryId) {
      await load();
      if (known.delete(deliveryId)) await keep();
    },
    hasCall: (sid) => [...known.values()].some((placed) => placed.sid === sid),
  };
}

function callsOf(text: string | undefined): Map<string, Placed> {
  const list = text === undefined ? [] : parseJson(Buffer.from(text));
  return new Map((Array.isArray(list) ? list : []) as unknown as [string, Placed][]);
}

/**
 * Says something in a call that is going on. While the line is held, an update of the call says it at once; else the platform
 * comes for it when it has said what it is saying, or has heard the caller. So nothing is cut off, and what was on its way when an
 * answer was lost is said once: the next webhook tells whether it was heard.
 */
export interface SayDeps {
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
async function sayInCall(deps: SayDeps, call: Call, words: Words, signal: AbortSignal): Promise<void> {
  const { speaker } = deps;
  const utterance = call.add(words);
  try {
    if (call.isWaiting(utterance)) {
      const spoken = await speaker.speak(words.text, signal);
      utterance.spoken = spoken;
      call.atEnd(() => speaker.drop(spoken));
      await push(deps, call, signal);
    }
    await unlessAborted(utterance.ended, signal);
  } finally {
    call.remove(utterance);
  }
}

/** The platform fetches text that is not pushed within seconds. */
async function push({ api, dialogue, clock }: SayDeps, call: Call, signal: AbortSignal): Promise<void> {
  const utterance = call.next;
  if (!utterance?.spoken || call.doing !== "holding" || call.pushing) return;
  const after = dialogue.progressAfter(call.progress, utterance, clock.now());
  const progress = { ...after, step: after.step + PUSHED_STEPS };
  call.pushing = utterance;
  try {
    const twiml = dialogue.words(call.person.id, utterance, utterance.spoken, progress);
    const taken = await api.updateCall(call.sid, { Twiml: twiml }, signal);
    if (taken === undefined) return call.end(OVER, clock.now());
    call.progress = progress;
    call.doing = "busy";
    call.wasSaid(utterance);
  } catch (error) {
    refuse(call, utterance, error);
  } finally {
    call.pushing = undefined;
  }
}

/** Other failures are harmless: the next webhook says whether the caller heard it; otherwise the platform fetches it. */
function refuse(call: Call, utterance: Utterance, error: unknown): void {
  const isRefused = error instanceof SvcError && ["CHANNEL_UNAUTHORIZED", "DELIVERY_REFUSED"].includes(error.code);
  if (!isRefused) return void (call.doing = "unknown");
  call.remove(utterance);
  utterance.failed(error);
}

// A message as it is to be said: its words, whose answer it is, and what a key says to it.

/**
 * Of one message. A text is said by up to 4 500 characters of a URL, nine for one of most scripts, and an update takes 4 000
 * characters of XML. https://www.twilio.com/docs/api/errors/13521, https://www.twilio.com/docs/api/errors/32018
 */
export const MAX_CHARS = 500;

/** Core cuts a text at the end of a sentence: a part that is followed by another is hardly ever shorter. */
const GOES_ON_CHARS = 300;

interface Words extends NewUtterance {
  /** The text to speak; blank if nothing is speakable. */
  readonly text: string;
}

/** The call that a message answers something in. */
interface Reply {
  readonly call: string;
  readonly turn: number;
}

export async function wordsOf(
  { deliveryId, text, replyData }: OutgoingMessage,
  { code_notice: codeNotice, keys_notice: keysNotice }: Config,
  prompt?: Prompt,
): Promise<Words> {
  const { speakableOf } = await import("@svc/kit/markdown");
  const turn = replyOf(replyData)?.turn;
  const speakable = (part: string): string => speakableOf(part, { codeNotice, clean: sayable });
  const plain = { deliveryId, turn, goesOn: text.length > GOES_ON_CHARS && !prompt, ask: prompt && askedBy(prompt) };
  const question = prompt && plain.ask && questionOf(prompt, keysNotice, speakable);
  return { ...plain, text: question ?? speakable(text) };
}

/** Undefined: no key can answer it. */
function askedBy({ id, approve, reject }: Prompt): Asked | undefined {
  const fits = (label: string): boolean => label.trim() !== "" && label.length <= MAX_LABEL_CHARS;
  return fits(approve) && fits(reject) ? { prompt: id, approve, reject } : undefined;
}

/** Undefined where there is no room for it: then it is read out in words. */
function questionOf(
  { title, message, approve, reject }: Prompt,
  keysNotice: string,
  speakable: (text: string) => string,
): string | undefined {
  const keys = keysNotice.replaceAll("{approve}", approve).replaceAll("{reject}", reject);
  const text = [title, speakable(message), keys].filter((part) => part.trim() !== "").join("\n");
  return text.length <= MAX_CHARS ? text : undefined;
}

/** They stand in the URL that is called when a key is pressed. */
const MAX_LABEL_CHARS = 20;

function replyOf(data: Json | undefined): Reply | undefined {
  const { call, turn } = fieldsOf(data);
  if (typeof call !== "string" || !CALL_SID.test(call) || typeof turn !== "number") return undefined;
  return { call, turn };
}
