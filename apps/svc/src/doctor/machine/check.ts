/** One look at this machine. */
import type { Finding } from "../finding.ts";
import type { Machine } from "./machine.ts";

export interface Check {
  /** Of its findings too, unless it tells several apart. Stable. */
  readonly id: string;
  /** Only with --security. */
  readonly security?: true;
  /** `signal` is aborted when its time is up; what it finds afterwards is not told. */
  find(machine: Machine, signal: AbortSignal): Finding[] | Promise<Finding[]>;
}
