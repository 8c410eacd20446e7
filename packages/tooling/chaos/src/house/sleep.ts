/** Real time: the daemon is another process, with a clock of its own. Keeps no process alive. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());

/** Looks again and again until `look` says true; false when that takes longer than anything that works. */
export async function eventually(look: () => boolean | Promise<boolean>, withinMs = 120_000): Promise<boolean> {
  for (const endsAt = performance.now() + withinMs; performance.now() < endsAt; await sleep(50)) {
    if (await look()) return true;
  }
  return false;
}
