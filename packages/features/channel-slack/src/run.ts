/** The channel's loop: stores what arrives, catches up on what was missed, looks up people's names. */
import type { FeatureContext } from "@svc/contract";
import { asFinal } from "@svc/kit";
import { type AccountDeps, signIn } from "./account.ts";
import { type ArrivalQueue, arrivalQueue, keeper } from "./arrivals.ts";
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

export async function runChannel(deps: RunDeps, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    deps.context.log.info("the platform knows this channel", { account: await signIn(deps.account, signal) });
    await listen(deps, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw asFinal(error);
  }
}

async function listen(deps: RunDeps, signal: AbortSignal): Promise<void> {
  const { context, api, told, threads, people } = deps;
  const keep = keeper(context);
  const away = awayIn(context);
  const catchUp = catchUpOf({ api, told, threads, keep, context }, await away.since());
  const queue = arrivalQueue({ keep, catchUp: catchUp.conversation });
  const connected = await connect(deps, queue, signal);
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
  queue: ArrivalQueue,
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
