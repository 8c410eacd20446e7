import type { Clock } from "@svc/contract";
import { sizeOf } from "@svc/kit/browser";

/**
 * Looks every two seconds how much pages have downloaded, asked for or not: the program sets no limit. Calls `tooMuch` once there
 * is more than a browser may keep. The result stops it.
 */
export function watchSize(folder: string, clock: Clock, tooMuch: () => void): () => void {
  let stopped = false;
  let cancel: () => void = () => undefined;
  const look = async (): Promise<void> => {
    const bytes = await sizeOf(folder);
    if (stopped) return;
    if (bytes > MAX_BYTES) return tooMuch();
    cancel = clock.after(EVERY_MS, () => void look());
  };
  cancel = clock.after(EVERY_MS, () => void look());
  return () => {
    stopped = true;
    cancel();
  };
}

const EVERY_MS = 2000;
const MAX_BYTES = 268_435_456;
