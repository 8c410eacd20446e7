/** Procedures are started, wait, are answered and run, while the daemon is killed again and again at random instants. */
import { join } from "node:path";
import { checkDatabase } from "@svc/store";
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { openGovernedFixture } from "../governed/fixture.ts";
import { judgeGoverned } from "../governed/judge.ts";
import { readStoredState } from "../governed/stored.ts";
import { People } from "../governed/people.ts";
import { pull, triggersOf } from "../governed/triggers.ts";
import { Release } from "../fixture/release.ts";
import { eventually, sleep } from "../fixture/sleep.ts";
import { databaseOf } from "../judge/database.ts";
import { keepEvidence } from "./evidence.ts";
import type { Report, ScenarioOptions } from "./scenario.ts";

/** Started by each life of the daemon, so that each of them has something in flight when it is killed. */
const PER_LIFE = 16;
/** Triggers on the way at the same time. */
const WIDTH = 8;
const LONGEST_LIFE_MS = 400;
const AT_START = 0.2;

export async function procedures(options: ScenarioOptions): Promise<Report> {
  const { seed, kills, binary, evidence, say = () => {} } = options;
  await using fixture = await openGovernedFixture(binary);
  const { home, lives } = fixture;
  const random = seededRandom(seed);
  const triggers = triggersOf(PER_LIFE * (kills + 1));
  const release = new Release();
  const problems: string[] = [];

  await lives.begin();
  const token = await lives.daemon.pair();
  const people = new People(lives, token, seededRandom(seed + 1));
  const answering = people.answer();
  const places = triggers.entries();
  const pulling = Array.from({ length: WIDTH }, async () => {
    for (const [place, trigger] of places) {
      await release.of(place);
      const wrong = await pull(lives, token, trigger);
      if (wrong !== undefined) problems.push(wrong);
    }
  });
  for (let kill = 1; kill <= kills; kill += 1) {
    release.upTo(kill * PER_LIFE);
    const lifeMs = Math.round(random() * LONGEST_LIFE_MS);
    await sleep(lifeMs);
    await lives.kill();
    say(`kill ${kill} of ${kills}: after ${lifeMs} ms`);
    if (random() < AT_START) await lives.beginAndKill(random() * lives.longestStartMs);
    await lives.begin();
  }
  release.upTo(Infinity);
  await Promise.all(pulling);
  if (!(await eventually(() => isQuiet(lives.url, token)))) problems.push("something goes on waiting, or running");
  people.end();
  await answering;
  await lives.end();
  const stored = readStoredState(home);
  const { problems: damage } = await checkDatabase(databaseOf(home), {
    quick: false,
    clock: { monotonic: () => performance.now() },
  });
  const judged = judgeGoverned(stored, triggers, { ...fixture, people });
  const report = {
    scenario: "procedures",
    seed,
    problems: [...problems, ...lives.problems, ...damage.map((one) => `database: ${one}`), ...judged.problems],
    facts: { kills, lives: lives.count, ...judged.facts },
  };
  if (report.problems.length > 0 && evidence !== undefined) keepEvidence(fixture, join(evidence, "procedures"));
  return report;
}

/** No run that has not ended, no question, nothing on its way. */
async function isQuiet(url: string, token: string): Promise<boolean> {
  const get = async <T>(path: string): Promise<T> =>
    (await (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).json()) as T;
  for (const status of ["pending", "running", "waiting_approval"]) {
    const { runs } = await get<{ runs: readonly object[] }>(`/api/sop-runs?limit=1&status=${status}`);
    if (runs.length > 0) return false;
  }
  const { approvals } = await get<{ approvals: readonly object[] }>("/api/approvals?limit=1&status=waiting");
  const { counts } = await get<{ counts: Record<"inbox" | "outbox", { waiting?: number }> }>("/api/inbox?limit=1");
  return approvals.length + (counts.inbox.waiting ?? 0) + (counts.outbox.waiting ?? 0) === 0;
}
