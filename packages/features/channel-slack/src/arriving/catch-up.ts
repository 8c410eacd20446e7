/** What was written while nobody listened, as far as the platform's history tells it: messages, but no presses and no commands. */
import { type FeatureContext, type Inbound, SvcError } from "@svc/contract";
import type { WebApi } from "../api/web-api.ts";
import type { Fields } from "../fields.ts";
import { messageOf } from "../inbound/message.ts";
import type { Told } from "../inbound/told.ts";
import type { Threads } from "../threads.ts";
import { conversationsOf, historyOf, type KnownConversation, repliesOf } from "./history.ts";
import type { Keep } from "./inbox.ts";

export interface CatchUpParts {
  readonly api: WebApi;
  readonly told: Told;
  readonly threads: Pick<Threads, "in">;
  readonly keep: Keep;
  readonly context: Pick<FeatureContext, "clock" | "log">;
}

/** Of one time that we listen. */
export interface CatchUp {
  /** Of one conversation, once. A fault of the platform's is no reason not to hear what comes now: it is left to `all`. */
  conversation(id: string, signal: AbortSignal): Promise<void>;
  /** Of all. Resolves with whether nothing is left to look for. */
  all(signal: AbortSignal): Promise<boolean>;
}

/** Threads of one conversation that are looked through. */
const MOST_THREADS = 20;
const MOST_TRIES = 5;
const RETRY_MS = 5_000;
/** Fifty a minute are allowed. */
const PAUSE_MS = 1_200;

/** `since`: a timestamp of the platform's. */
export function catchUpOf(parts: CatchUpParts, since: string): CatchUp {
  const { api, told, threads, keep, context } = parts;
  const begun = new Map<string, Promise<boolean>>();

  async function look({ id, kind }: KnownConversation, signal: AbortSignal): Promise<void> {
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
    if (found.some(({ isCut }) => isCut))
      context.log.warn("more was written while away than is looked at", { channel: id });
  }

  const read = (message: Fields, { id, kind }: KnownConversation): Inbound | undefined =>
    messageOf({ ...message, channel: id, channel_type: kind }, told.self.userId, told);

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
    const work = tried(context, tries, () => look(conversation, signal), signal).then((outcome) => {
      if (outcome === "failed") begun.delete(conversation.id);
      return outcome !== "failed";
    });
    work.catch(() => undefined);
    begun.set(conversation.id, work);
    return work;
  };

  return {
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
  { clock, log }: CatchUpParts["context"],
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
