/** The channel with its loop running, as the service runs it. */
import { type Inbound, SvcError } from "@svc/contract";
import type { Section } from "@svc/testkit/conformance/channel-conformance";
import { fakeClock, type FakeClock } from "@svc/testkit/fake-clock";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import type { Slack } from "@svc/testkit/platforms/slack/server";
import { type Fixture, fixture, NOW_MS, platform } from "./fixture.ts";

export interface Listening extends AsyncDisposable {
  readonly slack: Slack;
  readonly fixture: Fixture;
  readonly clock: FakeClock;
  /** On disk, oldest first. */
  readonly kept: readonly Inbound[];
  /** Ids that were handed over once more. */
  readonly duplicates: readonly string[];
  /** What `run` failed with; resolves only then, or with undefined when it ended. */
  readonly over: Promise<unknown>;
  /** Each of the next offers is refused. */
  refuse(times: number): void;
  /** Offers are answered when it resolves. */
  hold(gate: Promise<void>): void;
  /** Resolves once it is so; time goes on meanwhile where `steps` says how fast. */
  until(isSo: () => boolean, stepMs?: number): Promise<void>;
  stop(): Promise<void>;
}

export interface ListeningOptions {
  readonly section?: Section;
  readonly slack?: Slack;
  readonly clock?: FakeClock;
  readonly state?: ReturnType<typeof memorySecrets>;
  /** Where sockets may lead; default: where the section says. */
  readonly resolve?: (url: string) => Promise<readonly string[]>;
}

export async function listening(options: ListeningOptions = {}): Promise<Listening> {
  const { section = {}, slack = await platform(), clock = fakeClock(NOW_MS), state = memorySecrets() } = options;
  const kept: Inbound[] = [];
  const duplicates: string[] = [];
  const seen = new Set<string>();
  let refusals = 0;
  let gate: Promise<void> | undefined;
  const receive = async (messages: readonly Inbound[]) => {
    await gate;
    if (refusals > 0) {
      refusals -= 1;
      throw new SvcError("STORE_FULL");
    }
    return messages.map((message) => {
      const isKnown = message.id !== undefined && seen.has(message.id);
      if (isKnown) duplicates.push(message.id!);
      else kept.push(message);
      seen.add(message.id ?? "");
      return isKnown ? ("duplicate" as const) : ("kept" as const);
    });
  };
  const opened = fixture(
    { api_url: slack.apiUrl, ...section },
    { clock, state, receive, nowMs: clock.now(), ...(options.resolve && { resolve: options.resolve }) },
  );
  const ending = new AbortController();
  await opened.made.register?.(ending.signal);
  let isOver = false;
  const over = opened.made.run!(ending.signal)
    .then(
      () => undefined,
      (error: unknown) => error,
    )
    .finally(() => (isOver = true));
  const stop = async (): Promise<void> => {
    ending.abort(new Error("called off"));
    await over;
  };
  return {
    slack,
    fixture: opened,
    clock,
    kept,
    duplicates,
    over,
    refuse: (times) => void (refusals = times),
    hold: (until) => void (gate = until),
    async until(isSo, stepMs = 0) {
      const startMs = performance.now();
      for (let lap = 0; !isSo(); lap += 1) {
        if (isOver) throw new Error(`run is over: ${String(await over)}`);
        // What goes on goes on by real sockets: only what hangs takes so long.
        if (performance.now() - startMs > 60_000) throw new Error("it does not come to that");
        await turns(5);
        if (lap > 20) await new Promise((resolve) => setTimeout(resolve, 2));
        if (stepMs > 0) await clock.advance(stepMs);
      }
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await slack.close();
    },
  };
}

/** Of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Long enough for whatever is under way to show. It decides only whether what is wrong is seen. */
export async function aWhile(): Promise<void> {
  for (let lap = 0; lap < 20; lap += 1) await new Promise((resolve) => setTimeout(resolve, 2));
}
