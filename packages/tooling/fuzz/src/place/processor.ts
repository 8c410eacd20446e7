/**
 * An attacker makes and judges its requests on a machine of its own. Here that work would take the processor from the
 * daemon and from the well-behaved client, and what they wait for would be it: so it gets a processor for itself, where
 * there are two and taskset (util-linux) can share them out, and the lowest priority in any case.
 */
import { execFileSync } from "node:child_process";
import { availableParallelism, constants, setPriority } from "node:os";

/** `others`: process ids of the daemon and of those who are measured. Tells whether each side has its own. */
export function standApart(others: readonly number[]): boolean {
  setPriority(constants.priority.PRIORITY_LOW);
  const processors = availableParallelism();
  if (process.platform !== "linux" || processors < 2) return false;
  const rest = processors === 2 ? "1" : `1-${processors - 1}`;
  try {
    pin("0", process.pid);
    for (const pid of others) pin(rest, pid);
    return true;
  } catch {
    return false;
  }
}

/** All threads of it, and those it will start. */
function pin(processors: string, pid: number): void {
  execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", processors, String(pid)], { stdio: "ignore" });
}
