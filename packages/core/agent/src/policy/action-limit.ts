import type { Clock } from "@svc/contract";
import type { Refuse } from "./index.ts";

export interface ActionLimit {
  /** The refusal when the hour is used up. */
  refusal(): Refuse | undefined;
  /** Counts one action now. */
  count(): void;
}

const HOUR_MS = 3_600_000;

/** `max_actions_per_hour` over a sliding hour; 0 is no limit. Kept in memory: a restart begins a new hour. */
export function createActionLimit(max: number, clock: Pick<Clock, "monotonic">): ActionLimit {
  let startedMs: number[] = [];
  return {
    refusal() {
      if (max === 0) return undefined;
      const nowMs = clock.monotonic();
      startedMs = startedMs.filter((startMs) => nowMs - startMs < HOUR_MS);
      const oldestMs = startedMs[0];
      if (oldestMs === undefined || startedMs.length < max) return undefined;
      const minutes = Math.ceil((HOUR_MS - (nowMs - oldestMs)) / 60_000);
      return {
        verdict: "refuse",
        rule: "security.policy.max_actions_per_hour",
        reason: `security.policy.max_actions_per_hour allows ${max} acting calls; the next one is possible in ${minutes} min.`,
      };
    },
    count() {
      if (max !== 0) startedMs.push(clock.monotonic());
    },
  };
}
