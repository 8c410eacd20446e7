/** The channel's loop: what comes in is kept, what was missed is looked for, people's names are looked up. */
import { type FeatureContext, type Inbound, SvcError } from "@svc/contract";
import { asFinal, retry, unlessAborted } from "@svc/kit";
import { type AccountDeps, signIn } from "./account.ts";
import type { Config } from "./config.ts";
import type { Threads, Told } from "./events.ts";
import { awayIn, catchUpOf } from "./history.ts";
import type { People } from "./people.ts";
import type { WebApi } from "./web-api.ts";

export interface RunDeps {
  readonly context: FeatureContext<Config>;
  readonly api: WebApi;
  readonly account: AccountDeps;
  readonly told: Told;
  readonly threads: Threads;
  readonly people: People;
}

/** How often it is noted that we listen: more often than the overlap when we look for what was missed. */
const NOTE_MS = 300_000;

export async function runChannel(parts: RunDeps, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    parts.context.log.info("the platform knows this channel", { account: await signIn(parts.account, signal) });
    await listen(parts, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw asFinal(error);
  }
}

async function listen(parts: RunDeps, signal: AbortSignal): Promise<void> {
  const { context, api, told, threads, people } = parts;
  const keep = keeper(context);
  const away = awayIn(context);
  const catchUp = catchUpOf({ api, told, threads, keep, context }, await away.since());
  const queue = arrivalQueue({ keep, catchUp: catchUp.conversation });
  const connected = await connect(parts, queue, signal);
  const noting = async (end: AbortSignal): Promise<void> => {
    while (!(await catchUp.all(end))) await context.clock.sleep(NOTE_MS, end);
    for (;;) {
      // The connection is worth more than the note, which only saves looking twice.
      await away.caughtUp().catch(() => context.log.warn("that the channel listens could not be noted"));
      await context.clock.sleep(NOTE_MS, end);
    }
  };
  await together(signal, [noting, (end) => queue.run(end), (end) => people.run(end), ...connected]);
}

/** Loaded where it is used: the mode "events" never connects. */
async function connect(
  { context, told }: RunDeps,
  queue: ReturnType<typeof arrivalQueue>,
  signal: AbortSignal,
): Promise<((end: AbortSignal) => Promise<void>)[]> {
  const { mode, api_url: apiUrl, app_token: appToken = "" } = context.config;
  if (mode !== "socket") return [];
  const { openSession } = await import("./socket.ts");
  const session = await openSession({ apiUrl, appToken, told, queue, context }, signal);
  return [(end) => session.run(end)];
}

/** Until the first of them ends, or `signal` ends them all. Rejects with what the first one failed with. */
async function together(signal: AbortSignal, loops: readonly ((end: AbortSignal) => Promise<void>)[]): Promise<void> {
  const over = new AbortController();
  const end = AbortSignal.any([signal, over.signal]);
  let first: unknown;
  const running = loops.map((loop) =>
    loop(end).catch((error: unknown) => {
      if (!end.aborted) first = error;
      over.abort(error);
    }),
  );
  await Promise.all(running);
  if (!signal.aborted) throw first;
}

/** What came in live, one after the other, behind what was missed in its conversation. */
export interface Arrival {
  /** Undefined: there is nothing in it for us. */
  readonly inbound: Inbound | undefined;
  /** Tells the platform that it is kept. Never rejects. */
  readonly confirm: () => void;
}

export interface ArrivalQueue {
  push(arrival: Arrival): void;
  /** Until `signal` ends it. Rejects when something can't be kept. */
  run(signal: AbortSignal): Promise<void>;
}

export interface QueueDeps {
  readonly keep: Keep;
  /** Looks for what was missed in a conversation, before the first thing that comes in there. */
  readonly catchUp: (conversation: string, signal: AbortSignal) => Promise<void>;
}

/** One commit for all that waits, up to this many. */
const MOST_AT_ONCE = 64;

function arrivalQueue({ keep, catchUp }: QueueDeps): ArrivalQueue {
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

// Hands messages over to be kept, again when they can't be: what is not on disk is not confirmed to the platform.

/** Resolves once all are on disk, in their order. Rejects with what the inbox last refused them for, or the signal's reason. */
export type Keep = (messages: readonly Inbound[], signal: AbortSignal) => Promise<void>;

/** Half a minute in all, at most; then the connection is given up, and what it brought comes again. */
const BACKOFF = { firstMs: 1_000, longestMs: 15_000, maxTries: 6 };

function keeper({ receive, clock, log }: Pick<FeatureContext, "receive" | "clock" | "log">): Keep {
  return async (messages, signal) => {
    if (messages.length === 0) return;
    const onFailure = (error: unknown, retryInMs: number): void => {
      const reason = error instanceof SvcError ? error.code : "unknown";
      log.warn("messages could not be stored; will retry", { reason, retryInMs });
    };
    await retry(() => unlessAborted(receive(messages), signal), { ...BACKOFF, clock, signal, onFailure });
  };
}
