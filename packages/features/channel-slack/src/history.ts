/** What was written while the channel was not connected, from the platform's history. */
import { type FeatureContext, type Inbound, type Json, SvcError } from "@svc/contract";
import { type Threads, type ReadingDeps, messageOf } from "./events.ts";
import { type Fields, fieldsOf, textOf, timestamp } from "./protocol.ts";
import type { WebApi } from "./web-api.ts";
import { retry, unlessAborted } from "@svc/kit";

/**
 * What was written while no one listened, as far as the platform's history tells it: messages, but no presses and no commands.
 */
export interface CatchUpDeps {
  readonly api: WebApi;
  readonly reading: ReadingDeps;
  readonly threads: Pick<Threads, "in">;
  readonly keep: Keep;
  readonly context: Pick<FeatureContext, "clock" | "log">;
}

/** Of one time that we listen. */
export interface CatchUp {
  /** Fires when `again` is called. */
  readonly gap: AbortSignal;
  /** Of one conversation, once. A fault of the platform's is no reason not to hear what comes now: it is left to `all`. */
  conversation(id: string, signal: AbortSignal): Promise<void>;
  /** Of all. Resolves with whether nothing is left to look for. */
  all(signal: AbortSignal): Promise<boolean>;
  /** Searches everything again: messages may have been written that Slack did not send us. */
  again(): void;
}

/** Threads of one conversation that are looked through. */
const MOST_THREADS = 20;
const MOST_TRIES = 5;
const RETRY_MS = 5_000;
/** Fifty a minute are allowed. */
const PAUSE_MS = 1_200;

/** `begin`: a timestamp of the platform's. A conversation that was looked through is looked through again from ten minutes before the gap. */
export function catchUpOf(deps: CatchUpDeps, begin: string): CatchUp {
  const { api, reading, threads, keep, context } = deps;
  const begun = new Map<string, Promise<boolean>>();
  /** Looked through since the last gap. */
  const looked = new Set<string>();
  /** Where to begin, for conversations that were looked through before a gap; one that could not be keeps its older beginning. */
  const beginnings = new Map<string, string>();
  let gap = new AbortController();

  async function look({ id, kind }: KnownConversation, signal: AbortSignal): Promise<void> {
    const since = beginnings.get(id) ?? begin;
    const { signal: nextGap } = gap;
    const found = [await historyOf(api, id, since, signal)];
    for (const thread of kind === "im" ? [] : threads.in(id).slice(0, MOST_THREADS)) {
      const replies = await repliesOf(api, id, thread, since, signal).catch(unlessGone);
      if (replies) found.push(replies);
    }
    const written = found.flatMap(({ messages }) => messages).filter(({ ts }) => String(ts) > since);
    const inOrder = written.toSorted((one, other) => (String(one["ts"]) < String(other["ts"]) ? -1 : 1));
    await keep(
      inOrder.flatMap((message) => read(message, { id, kind }) ?? []),
      signal,
    );
    if (!nextGap.aborted) looked.add(id);
    if (found.some(({ isCut }) => isCut))
      context.log.warn("more was written while away than is looked at", { channel: id });
  }

  const read = (message: Fields, { id, kind }: KnownConversation): Inbound | undefined =>
    messageOf({ ...message, channel: id, channel_type: kind }, reading.self.userId, reading);

  let listing: ReturnType<typeof conversationsOf> | undefined;
  const listed = (signal: AbortSignal): ReturnType<typeof conversationsOf> =>
    (listing ??= conversationsOf(api, signal).catch((error: unknown) => {
      listing = undefined;
      throw error;
    }));

  /** False: it has to be looked through again. */
  const once = (conversation: KnownConversation, tries: number, signal: AbortSignal): Promise<boolean> => {
    const known = begun.get(conversation.id);
    if (known !== undefined) return known;
    const work: Promise<boolean> = tried(context, tries, () => look(conversation, signal), signal).then((outcome) => {
      if (outcome === "failed" && begun.get(conversation.id) === work) begun.delete(conversation.id);
      return outcome !== "failed";
    });
    work.catch(() => undefined);
    begun.set(conversation.id, work);
    return work;
  };

  return {
    get gap() {
      return gap.signal;
    },
    again() {
      const from = stampOf(context.clock.now() - OVERLAP_MS);
      for (const id of looked) beginnings.set(id, from > begin ? from : begin);
      looked.clear();
      begun.clear();
      listing = undefined;
      const ended = gap;
      gap = new AbortController();
      ended.abort();
    },
    async conversation(id, signal) {
      if (begun.has(id)) return void (await begun.get(id));
      await tried(
        context,
        1,
        async () => {
          const known = id.startsWith("D") ? undefined : (await listed(signal)).list.find((one) => one.id === id);
          await once(known ?? { id, kind: id.startsWith("D") ? "im" : "channel" }, 1, signal);
        },
        signal,
      );
    },
    async all(signal) {
      let known: Awaited<ReturnType<typeof conversationsOf>> = { list: [], isCut: false };
      const outcome = await tried(context, MOST_TRIES, async () => void (known = await listed(signal)), signal);
      if (known.isCut) context.log.warn("the bot is in more conversations than are looked through for what was missed");
      let isWhole = outcome !== "failed";
      for (const conversation of known.list) {
        const isNew = !begun.has(conversation.id);
        isWhole = (await once(conversation, MOST_TRIES, signal)) && isWhole;
        if (isNew) await context.clock.sleep(PAUSE_MS, signal);
      }
      return isWhole;
    },
  };
}

type Outcome = "done" | "refused" | "failed";

/** Tries again what may be there later, as long as that makes sense. Rejects with what could not be kept, and when aborted. */
async function tried(
  { clock, log }: CatchUpDeps["context"],
  most: number,
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<Outcome> {
  for (let tries = 1; ; tries += 1) {
    try {
      await work();
      return "done";
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SvcError) || !PLATFORMS.has(error.code)) throw error;
      const { code: reason, retryAfterMs = RETRY_MS * tries } = error;
      const isFinal = error.code === "DELIVERY_REFUSED" || error.code === "CHANNEL_UNAUTHORIZED";
      if (isFinal || tries >= most) {
        log.warn("what was written while away could not be looked for", { reason });
        return isFinal ? "refused" : "failed";
      }
      await clock.sleep(retryAfterMs, signal);
    }
  }
}

/** The platform's faults; all others are ours, and the inbox's. */
const PLATFORMS: ReadonlySet<string> = new Set([
  "ADDRESS_REFUSED",
  "CHANNEL_UNAUTHORIZED",
  "DELIVERY_FAILED",
  "DELIVERY_REFUSED",
  "REMOTE_TIMEOUT",
  "REMOTE_UNREACHABLE",
]);

/** A thread that was deleted has nothing to say. */
function unlessGone(error: unknown): undefined {
  if (error instanceof SvcError && error.code === "DELIVERY_REFUSED") return undefined;
  throw error;
}

/**
 * What was written in a conversation, from the platform's history.
 * https://docs.slack.dev/reference/methods/conversations.history, https://docs.slack.dev/reference/methods/conversations.replies
 */
export interface Written {
  /** Oldest first. */
  readonly messages: readonly Fields[];
  /** There was more than is looked at. */
  readonly isCut: boolean;
}

const PAGE = 200;
/** Of one conversation, and of one thread. */
const MOST_PAGES = 3;

/** After `oldest`, without replies. Throws as `WebApi`. */
const historyOf = (api: WebApi, channel: string, oldest: string, signal: AbortSignal): Promise<Written> =>
  pagesOf(api, "conversations.history", { channel, oldest, limit: PAGE }, signal);

const repliesOf = (
  api: WebApi,
  channel: string,
  thread: string,
  oldest: string,
  signal: AbortSignal,
): Promise<Written> => pagesOf(api, "conversations.replies", { channel, ts: thread, oldest, limit: PAGE }, signal);

async function pagesOf(
  api: WebApi,
  method: string,
  args: Readonly<Record<string, string | number>>,
  signal: AbortSignal,
): Promise<Written> {
  const messages: Fields[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await api.call(method, { ...args, ...(cursor !== undefined && { cursor }) }, signal);
    messages.push(...readList(answer["messages"]));
    cursor = textOf(fieldsOf(answer["response_metadata"])["next_cursor"]);
    if (cursor === undefined) break;
  }
  const dated = messages.filter(({ ts }) => timestamp(ts) !== undefined);
  return {
    messages: dated.toSorted((one, other) => (String(one["ts"]) < String(other["ts"]) ? -1 : 1)),
    isCut: cursor !== undefined,
  };
}

interface KnownConversation {
  readonly id: string;
  readonly kind: "im" | "mpim" | "channel";
}

const MOST_CONVERSATIONS = 200;

/** Those that the bot is in; direct messages first. Throws as `WebApi`. */
async function conversationsOf(
  api: WebApi,
  signal: AbortSignal,
): Promise<{ list: KnownConversation[]; isCut: boolean }> {
  const list: KnownConversation[] = [];
  let cursor: string | undefined;
  do {
    const args = { types: "im,mpim,private_channel,public_channel", exclude_archived: true, limit: PAGE };
    const answer = await api.call("users.conversations", { ...args, ...(cursor !== undefined && { cursor }) }, signal);
    for (const { id, is_im: isIm, is_mpim: isMpim } of readList(answer["channels"])) {
      if (typeof id === "string") list.push({ id, kind: isIm === true ? "im" : isMpim === true ? "mpim" : "channel" });
    }
    cursor = textOf(fieldsOf(answer["response_metadata"])["next_cursor"]);
  } while (cursor !== undefined && list.length < 5 * MOST_CONVERSATIONS);
  const byKind = list.toSorted((one, other) => ORDER.indexOf(one.kind) - ORDER.indexOf(other.kind));
  return {
    list: byKind.slice(0, MOST_CONVERSATIONS),
    isCut: byKind.length > MOST_CONVERSATIONS || cursor !== undefined,
  };
}

const ORDER = ["im", "mpim", "channel"];

/** An answer without its list is none: nothing would be missed that way, and nothing found. */
function readList(value: Json | undefined): Fields[] {
  if (!Array.isArray(value)) throw new SvcError("DELIVERY_FAILED", "The platform's answer can't be read.");
  return value.map(fieldsOf);
}

/**
 * When we last listened. Kept now and then while we do, so that what was written since is looked for after a restart; a little
 * earlier, since the platform may have told it to no one.
 */
export interface Away {
  /** Look from here on, as a timestamp of the platform's. The first time of all it is now. */
  since(): Promise<string>;
  /** We have all that was written until now. */
  caughtUp(): Promise<void>;
}

/** In milliseconds: the first time of all, and the last. */
const NAME = "listened";
/** Longer than the platform tries to deliver an event. https://docs.slack.dev/apis/events-api#retries */
const OVERLAP_MS = 600_000;
/** Senders don't wait for an answer to older messages. */
const LONGEST_AWAY_MS = 604_800_000;

export function awayIn({ state, clock }: Pick<FeatureContext, "state" | "clock">): Away {
  const stored = async (): Promise<{ firstMs: number; lastMs: number }> => {
    const [, first, last] = /^(\d{1,16}) (\d{1,16})$/.exec((await state.get(NAME)) ?? "") ?? [];
    return first === undefined
      ? { firstMs: clock.now(), lastMs: clock.now() }
      : { firstMs: Number(first), lastMs: Number(last) };
  };
  const keep = (firstMs: number, lastMs: number): Promise<void> => state.set(NAME, `${firstMs} ${lastMs}`);
  return {
    async since() {
      const { firstMs, lastMs } = await stored();
      await keep(firstMs, lastMs);
      // What was written before the bot was there is no one's question.
      const fromMs = Math.max(firstMs, lastMs - OVERLAP_MS, clock.now() - LONGEST_AWAY_MS);
      return stampOf(fromMs);
    },
    async caughtUp() {
      await keep((await stored()).firstMs, clock.now());
    },
  };
}

/** A moment as the platform writes those of messages, to the second. */
const stampOf = (atMs: number): string => `${String(Math.floor(atMs / 1000)).padStart(10, "0")}.000000`;

// Live arrivals: stored one after the other, behind what was missed in their conversation, and acknowledged only then.

interface Arrival {
  /** Undefined: there is nothing in it for us. */
  readonly inbound: Inbound | undefined;
  /** Acknowledges it to the platform, once it is stored. Never rejects. */
  readonly confirm: () => void;
}

export interface ArrivalQueue {
  push(arrival: Arrival): void;
  /** Until `signal` ends it. Rejects when messages can't be stored. */
  run(signal: AbortSignal): Promise<void>;
}

interface QueueDeps {
  readonly keep: Keep;
  /** Looks for what was missed in a conversation, before the first thing that comes in there. */
  readonly catchUp: (conversation: string, signal: AbortSignal) => Promise<void>;
}

/** One commit for all that waits, up to this many. */
const MOST_AT_ONCE = 64;

export function arrivalQueue({ keep, catchUp }: QueueDeps): ArrivalQueue {
  const waiting: Arrival[] = [];
  let wake = (): void => undefined;
  return {
    push(arrival) {
      waiting.push(arrival);
      wake();
    },
    async run(signal) {
      const stop = (): void => wake();
      signal.addEventListener("abort", stop, { once: true });
      try {
        while (!signal.aborted) {
          const taken = waiting.splice(0, MOST_AT_ONCE);
          if (taken.length === 0) {
            await new Promise<void>((resolve) => (wake = resolve));
            continue;
          }
          const messages = taken.flatMap(({ inbound }) => inbound ?? []);
          for (const id of new Set(messages.map(({ conversation }) => conversation.id))) await catchUp(id, signal);
          await keep(messages, signal);
          for (const { confirm } of taken) confirm();
        }
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
  };
}

/** Resolves once all are on disk, in their order. Rejects with what the inbox last refused them for, or the signal's reason. */
type Keep = (messages: readonly Inbound[], signal: AbortSignal) => Promise<void>;

/** Half a minute in all at most; then the connection closes, and the platform delivers its events again. */
const BACKOFF = { firstMs: 1_000, longestMs: 15_000, maxTries: 6 };

export function keeper({ receive, clock, log }: Pick<FeatureContext, "receive" | "clock" | "log">): Keep {
  return async (messages, signal) => {
    if (messages.length === 0) return;
    const onFailure = (error: unknown, retryInMs: number): void => {
      const reason = error instanceof SvcError ? error.code : "unknown";
      log.warn("messages could not be stored; will retry", { reason, retryInMs });
    };
    await retry(() => unlessAborted(receive(messages), signal), { ...BACKOFF, clock, signal, onFailure });
  };
}
