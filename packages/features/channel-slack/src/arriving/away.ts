/**
 * When we last listened. Kept now and then while we do, so that what was written since is looked for after a restart; a little
 * earlier, since the platform may have told it to nobody.
 */
import type { FeatureContext } from "@svc/contract";

export interface Away {
  /** Look from here on, as a timestamp of the platform's. The first time of all it is now. */
  since(): Promise<string>;
  /** We have all that was written until now. */
  caughtUp(): Promise<void>;
}

/** In milliseconds: the first time of all, and the last. */
const NAME = "listened";
/** Longer than the platform tries to deliver an event. https://docs.slack.dev/apis/events-api#retries */
const OVERLAP_MS = 600_000;
/** What is older, nobody waits for an answer to. */
const LONGEST_AWAY_MS = 604_800_000;

export function awayIn({ state, clock }: Pick<FeatureContext, "state" | "clock">): Away {
  const kept = async (): Promise<{ firstMs: number; lastMs: number }> => {
    const [, first, last] = /^(\d{1,16}) (\d{1,16})$/.exec((await state.get(NAME)) ?? "") ?? [];
    return first === undefined
      ? { firstMs: clock.now(), lastMs: clock.now() }
      : { firstMs: Number(first), lastMs: Number(last) };
  };
  const keep = (firstMs: number, lastMs: number): Promise<void> => state.set(NAME, `${firstMs} ${lastMs}`);
  return {
    async since() {
      const { firstMs, lastMs } = await kept();
      await keep(firstMs, lastMs);
      // What was written before the bot was there is nobody's question.
      const fromMs = Math.max(firstMs, lastMs - OVERLAP_MS, clock.now() - LONGEST_AWAY_MS);
      return `${String(Math.floor(fromMs / 1000)).padStart(10, "0")}.000000`;
    },
    async caughtUp() {
      await keep((await kept()).firstMs, clock.now());
    },
  };
}
