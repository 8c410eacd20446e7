/**
 * Another process holds the database's lock for longer than the daemon waits for it: 503, over a kill too; and all goes on
 * when it lets go.
 */
import { DatabaseSync } from "node:sqlite";
import { drained } from "../fixture/drained.ts";
import { openFixture } from "../fixture/fixture.ts";
import { Poster } from "../fixture/poster.ts";
import { databaseOf } from "../judge/database.ts";
import { planOf } from "../plan/plan.ts";
import { conclude } from "./conclude.ts";
import { firstLife } from "./first-life.ts";
import { oddAnswers, Refused, refusedWith } from "./refusals.ts";
import type { Report, ScenarioOptions } from "./scenario.ts";

const DELIVERIES = 60;

export async function locked(options: ScenarioOptions): Promise<Report> {
  const { seed, binary, say = () => {} } = options;
  await using fixture = await openFixture({ seed, binary, providers: ["provider_a", "provider_c"] });
  const { lives, providers } = fixture;
  const { deliveries } = planOf({ seed, deliveries: DELIVERIES, kills: 0, writers: providers });
  const [before, meanwhile] = [deliveries.slice(0, 20), deliveries.slice(20)];
  const refused = new Refused();
  using poster = new Poster(fixture, { pause: () => refused.pause() });
  const problems: string[] = [];
  const check = async (found: Promise<readonly string[]>): Promise<void> => void problems.push(...(await found));

  const view = await firstLife(fixture);
  // Some of it is being answered when the lock is taken.
  await poster.post(before, { width: 4 });
  const lock = new DatabaseSync(databaseOf(fixture.home), { timeout: 30_000 });
  lock.exec("BEGIN IMMEDIATE");
  say("another process has the lock");
  const lockedAt = performance.now();
  const posted = poster.post(meanwhile, { width: meanwhile.length });
  await check(refused.decided(meanwhile, poster.postings));
  const refusedMs = performance.now() - lockedAt;
  await check(refusedWith("STORE_FAILED", fixture));
  await lives.kill();
  await lives.begin();
  say("killed, and started without the lock");
  await check(refusedWith("STORE_FAILED", fixture));
  lock.exec("ROLLBACK");
  lock.close();
  refused.comeAgain();
  say("it has let go");
  await posted;
  await check(drained(view, { say }));

  problems.push(...oddAnswers(poster.postings));
  const facts = { "all were refused after, ms": Math.round(refusedMs) };
  return await conclude(fixture, poster, options, { scenario: "locked", problems, facts, wasUnwritable: true });
}
