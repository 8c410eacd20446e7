/** Deliveries over all providers while the daemon is killed, again and again, and platforms fail. */
import { drained } from "../fixture/drained.ts";
import { type Fixture, openFixture } from "../fixture/fixture.ts";
import { Poster } from "../fixture/poster.ts";
import { Release } from "../fixture/release.ts";
import { sleep } from "../fixture/sleep.ts";
import type { Kill } from "../plan/kills.ts";
import { planOf } from "../plan/plan.ts";
import { ALL_PROVIDERS } from "../providers/index.ts";
import { conclude } from "./conclude.ts";
import { firstLife } from "./first-life.ts";
import type { Report, ScenarioOptions } from "./scenario.ts";

/** Deliveries on the way at the same time. */
const WIDTH = 16;
/** A happening that does not come any more is not waited for longer. */
const LONGEST_WAIT_MS = 3_000;

export async function kills(options: ScenarioOptions): Promise<Report> {
  const { seed, deliveries, kills: count, binary, failingReads, say = () => {} } = options;
  await using fixture = await openFixture({ seed, binary, failingReads, providers: ALL_PROVIDERS });
  const { lives, ledger, providers } = fixture;
  const plan = planOf({ seed, deliveries, kills: count, writers: providers });
  const release = new Release();
  using poster = new Poster(fixture);

  const view = await firstLife(fixture);
  ledger.isCalm = false;
  const posted = poster.post(plan.posts, { width: WIDTH, released: (place) => release.of(place) });
  for (const [index, kill] of plan.kills.entries()) {
    release.upTo(kill.released);
    await killOnce(fixture, kill);
    say(`kill ${index + 1} of ${count}: ${described(kill)}`);
    if (plan.kills[index + 1]?.at !== "start") await lives.begin();
  }
  release.upTo(Infinity);
  await posted;
  const problems = await drained(view, { answered: true, say });
  // What rests after a failure would rest for minutes: the next start sends it at once.
  ledger.isCalm = true;
  await lives.end();
  await lives.begin();
  problems.push(...(await drained(view, { say })));
  return await conclude(fixture, poster, options, {
    scenario: "kills",
    problems,
    facts: {
      kills: count,
      "of them at a start": plan.kills.filter(({ at }) => at === "start").length,
      "longest start, ms": Math.round(lives.longestStartMs),
    },
  });
}

async function killOnce({ lives, happenings }: Fixture, kill: Kill): Promise<void> {
  if (kill.at === "start") return lives.beginAndKill(kill.share * lives.longestStartMs);
  await Promise.race([happenings.next(kill.at, kill.count), sleep(LONGEST_WAIT_MS)]);
  if (kill.delayMs > 0) await sleep(kill.delayMs);
  await lives.kill();
}

const described = (kill: Kill): string =>
  kill.at === "start"
    ? `at ${kill.share.toFixed(2)} of a start`
    : `${kill.delayMs} ms after ${kill.at} no. ${kill.count}`;
