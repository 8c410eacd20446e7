/** What platforms do to connections while all is well with the daemon: they end them, ask for others, say things again. */
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { sleep } from "../fixture/sleep.ts";
import type { EverydayFixture } from "./fixture.ts";

export interface Trouble {
  /** How often each was done, e.g. `discord op 7 (reconnect)`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Resolves when there is no more of it. */
  end(): Promise<void>;
}

const LONGEST_REST_MS = 500;
/** Of all trouble: what nobody confirmed is handed over again, whether it was kept or not. */
const AGAIN = 0.2;

export function makeTrouble({ platforms }: Pick<EverydayFixture, "platforms">, seed: number): Trouble {
  const random = seededRandom(seed + 4);
  const counts = new Map<string, number>();
  const ending = { isOver: false };
  const count = (name: string, by = 1): void => void (by > 0 && counts.set(name, (counts.get(name) ?? 0) + by));
  const one = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!;

  const working = (async () => {
    for (;;) {
      await sleep(random() * LONGEST_REST_MS);
      if (ending.isOver) return;
      const platform = one(platforms);
      if (random() < AGAIN) count(`${platform.id} handed over again`, platform.handOverAgain());
      const [name, disturb] = one(Object.entries(platform.disturbances));
      disturb();
      count(`${platform.id} ${name}`);
    }
  })();
  return {
    counts,
    end: () => {
      ending.isOver = true;
      return working;
    },
  };
}
