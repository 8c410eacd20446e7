/** What a process holds, as Linux tells it. */
import { readdirSync, readFileSync } from "node:fs";

export interface Held {
  /** Anonymous resident memory: the program's own, without the mapped file. */
  readonly memoryMb: number;
  readonly descriptors: number;
}

/** Undefined where the system has no /proc. */
export function heldBy(pid: number): Held | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kilobytes = Number(/RssAnon:\s+(\d+)/.exec(status)?.[1]);
    return { memoryMb: kilobytes / 1024, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return undefined;
  }
}

/** Polls until it holds no more than `most`, or until the timeout; resolves with the last value. */
export async function settled(pid: number, most: Held, forMs: number): Promise<Held | undefined> {
  const endsAt = performance.now() + forMs;
  for (;;) {
    const held = heldBy(pid);
    const fits = held !== undefined && held.memoryMb <= most.memoryMb && held.descriptors <= most.descriptors;
    if (held === undefined || fits || performance.now() > endsAt) return held;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
