/**
 * `svc __agent-keeper <mark>`: waits until svc is gone, however it ended, then kills the child agents that it had. It reads groups of
 * processes on its input, a line each: `+<pid>` one that began, `-<pid>` one that ended.
 */
import { createInterface } from "node:readline";
import { killGroup, killMarked } from "../keeper.ts";

export async function run([mark]: readonly string[]): Promise<number | undefined> {
  if (mark === undefined || !/^agents-[0-9a-f]{12}-[0-9]+-$/.test(mark)) return 64;
  // Told to end, it still has to wait: what it waits for comes next.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  const groups = new Set<number>();
  for await (const line of createInterface({ input: process.stdin })) {
    const pid = Number(line.slice(1));
    if (!Number.isSafeInteger(pid) || pid <= 1) continue;
    if (line.startsWith("+")) groups.add(pid);
    else groups.delete(pid);
  }
  for (const pid of groups) killGroup(pid);
  await killMarked(mark);
  return 0;
}
