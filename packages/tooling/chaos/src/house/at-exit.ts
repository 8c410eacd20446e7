/** What must not outlive this process, however it ends: a daemon that nobody knows of, a disk that stays mounted. */

/** Runs `work` when the process exits, unless the result is called before. `work` must be synchronous. */
export function atExit(work: () => void): () => void {
  process.once("exit", work);
  return () => void process.off("exit", work);
}
