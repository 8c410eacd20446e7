/** What became of a promise: what is wrong, and the numbers of a report. */
import type { Facts } from "../scenarios/scenario.ts";

export interface Judgement {
  readonly problems: readonly string[];
  readonly facts: Facts;
}
