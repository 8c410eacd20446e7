/** Watches from outside what a process has of the machine's memory. */
import { readFile } from "node:fs/promises";
import type { Clock } from "@svc/contract";

/**
 * Calls `onOver` once if it has more than `limitBytes`; the result ends the watch. On Linux: elsewhere there is the engine's
 * limit of the module's memory, and the operating system's.
 */
export function watchMemory(pid: number, limitBytes: number, clock: Clock, onOver: () => void): () => void {
  if (process.platform !== "linux") return () => undefined;
  let cancel: () => void;
  let isOver = false;
  const look = async (): Promise<void> => {
    const bytes = await residentBytes(pid);
    if (isOver) return;
    if (bytes > limitBytes) onOver();
    else cancel = clock.after(EVERY_MS, () => void look());
  };
  cancel = clock.after(EVERY_MS, () => void look());
  return () => {
    isOver = true;
    cancel();
  };
}

const EVERY_MS = 100;

/** proc(5), statm: pages; the second is what is resident. */
async function residentBytes(pid: number): Promise<number> {
  try {
    const [, pages] = (await readFile(`/proc/${pid}/statm`, "latin1")).split(" ");
    return Number(pages) * PAGE_BYTES;
  } catch {
    return 0; // It has ended, which others notice.
  }
}

/** Where pages are larger, more of them is seen than there is only by machines that have so much more of it. */
const PAGE_BYTES = 4096;
