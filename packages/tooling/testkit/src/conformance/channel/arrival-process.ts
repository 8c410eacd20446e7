/** One process of the service, as far as a channel notices: made, registered, run, and run again when that failed. */
import { SvcError } from "@svc/contract";
import { demand, outcomeOf, errorText } from "../../check.ts";
import type { FakeClock } from "../../fake-clock.ts";
import { type Bench, open, type OpenChannel, type ContextOverrides } from "./open.ts";
import type { ChannelPlatform, Section } from "./subject.ts";

export interface Process {
  readonly opened: OpenChannel;
  /** What `run` failed with, oldest first. */
  readonly failures: readonly unknown[];
  /** Why `run` is not started again; undefined as long as it is. */
  readonly over: string | undefined;
  /** Throws when `run` goes on although it was stopped. */
  stop(): Promise<void>;
}

/** The back-off of the service begins here. */
const RESTART_MS = 1_000;

export async function startProcess(
  bench: Bench,
  platform: ChannelPlatform,
  section: Section,
  overrides: ContextOverrides & { readonly clock: FakeClock },
): Promise<Process> {
  const opened = await open(bench, platform, section, overrides);
  const { made } = opened;
  const { clock } = overrides;
  const ending = new AbortController();
  const failures: unknown[] = [];
  let over: string | undefined;

  const supervise = async (): Promise<void> => {
    while (over === undefined && !ending.signal.aborted) {
      try {
        await made.run?.(ending.signal);
        over = "it ended by itself";
      } catch (error) {
        if (ending.signal.aborted) return;
        failures.push(error);
        if (isFinal(error)) return void (over = `it failed with ${errorText(error)}`);
        const asked = error instanceof SvcError ? (error.retryAfterMs ?? 0) : 0;
        await clock.sleep(Math.max(RESTART_MS, asked), ending.signal).catch(() => undefined);
      }
    }
  };

  await made.register?.(ending.signal);
  const running = supervise();
  let stopping: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    ending.abort(new SvcError("DRAINING"));
    const { kind } = await outcomeOf(() => running, bench.promptMs);
    await opened.shutdown();
    demand(kind !== "hung", "run goes on although it was stopped");
  };
  return {
    opened,
    failures,
    get over() {
      return over;
    },
    stop: () => (stopping ??= stop()),
  };
}

const isFinal = (error: unknown): boolean => !(error instanceof SvcError) || error.code === "FEATURE_FAILED";
