/**
 * An attacker makes and judges its requests on a machine of its own. Here that work would take the processor from the
 * daemon and from the well-behaved client, and what they wait for would be it: so it gets what both leave over, where
 * chrt (util-linux) can say so. (A processor for itself was worse: the daemon's own threads and the client then shared
 * the other one.)
 */
import { execFileSync } from "node:child_process";

export interface StoodBack extends Disposable {
  /** Other processes come first. */
  readonly apart: boolean;
}

/** Until it is disposed of: what this process starts meanwhile stands back too. */
export function standBack(): StoodBack {
  const apart = process.platform === "linux" && scheduled("--idle");
  return { apart, [Symbol.dispose]: () => void (apart && scheduled("--other")) };
}

/** All threads of this process, and those it will start. */
function scheduled(policy: "--idle" | "--other"): boolean {
  try {
    execFileSync("chrt", ["--all-tasks", policy, "--pid", "0", String(process.pid)], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
