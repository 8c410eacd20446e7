/** Waits until nothing waits: as long as something moves, and no longer. */
import type { InboxView } from "./inbox.ts";
import { sleep } from "./sleep.ts";

export interface DrainedOptions {
  /** Answers may still be on their way. */
  readonly answered?: boolean;
  readonly say?: (line: string) => void;
}

/** A delivery that failed rests for seconds; nothing of a daemon that works stands still for so long. */
const STALLED_MS = 120_000;
const LOOK_MS = 200;
const SAY_MS = 5_000;

/** Resolves with what is wrong: nothing, or one sentence. */
export async function drained(
  view: InboxView,
  { answered = false, say = () => {} }: DrainedOptions = {},
): Promise<string[]> {
  let before = "";
  let movedAt = performance.now();
  let saidAt = movedAt;
  for (;;) {
    const counts = await view.counts();
    const [toAnswer = 0, toSend = 0] = [counts.inbox["waiting"], counts.outbox["waiting"]];
    if (toAnswer === 0 && (answered || toSend === 0)) return [];
    const now = performance.now();
    const shown = JSON.stringify(counts);
    if (shown !== before) movedAt = now;
    before = shown;
    if (now - movedAt > STALLED_MS) return [`nothing moves any more: ${shown}`];
    if (now - saidAt > SAY_MS) {
      say(`waiting: ${toAnswer} to be answered, ${toSend} to be sent`);
      saidAt = now;
    }
    await sleep(LOOK_MS);
  }
}
