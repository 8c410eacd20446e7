/** All series as one text, written in slices between which other work runs. */
import { setImmediate } from "node:timers/promises";
import type { Exposition } from "@svc/contract";

export interface Source {
  /** Updates the gauges that are read for each scrape. Never rejects. */
  refresh(): Promise<void>;
  /** Each writes a part of the text, in about a millisecond. */
  slices(): readonly (() => Promise<string>)[];
}

export function expositionOf(source: Source): Exposition {
  const write = async (): Promise<string> => {
    await source.refresh();
    let text = "";
    for (const slice of source.slices()) {
      await setImmediate();
      text += await slice();
    }
    return text;
  };
  // Concurrent callers share one rendering, so that many at once cost no more than one.
  let running: Promise<string> | undefined;
  return { text: () => (running ??= write().finally(() => (running = undefined))) };
}
