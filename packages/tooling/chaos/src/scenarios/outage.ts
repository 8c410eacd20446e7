/** A platform can't be reached for longer than the first retries, over a restart too; the others are served meanwhile. */
import { drained } from "../fixture/drained.ts";
import { openFixture } from "../fixture/fixture.ts";
import type { InboxView } from "../fixture/inbox.ts";
import { Poster } from "../fixture/poster.ts";
import { eventually } from "../fixture/sleep.ts";
import { planOf } from "../plan/plan.ts";
import { conclude } from "./conclude.ts";
import { firstLife } from "./first-life.ts";
import { unacknowledged } from "./at-once.ts";
import type { Report, ScenarioOptions } from "./scenario.ts";

const DOWN = "provider_a";
/** Attempts that fail: they take one second, then two, then four. */
const FAILED_ATTEMPTS = 3;
const DELIVERIES = 60;

export async function outage(options: ScenarioOptions): Promise<Report> {
  const { seed, binary, say = () => {} } = options;
  await using fixture = await openFixture({ seed, binary, providers: [DOWN, "provider_b", "provider_d"] });
  const { lives, providers } = fixture;
  const { posts } = planOf({ seed, deliveries: DELIVERIES, kills: 0, writers: providers });
  using poster = new Poster(fixture);
  const problems: string[] = [];

  const view = await firstLife(fixture);
  await lives.cut(DOWN);
  await poster.post(posts.slice(0, posts.length / 2), { width: 4 });
  const othersAreServed = async (): Promise<boolean> => {
    const { inbox, outbox } = await view.counts();
    return inbox["waiting"] === 0 && outbox["waiting"] === (await view.waitingFor(DOWN)).length;
  };
  if (!(await eventually(othersAreServed))) problems.push("one platform that is down holds up the others");
  say("the others are served");
  if (!(await eventually(() => haveFailed(view)))) problems.push("what a platform did not take is not tried again");
  say(`every conversation has failed ${FAILED_ATTEMPTS} times`);

  await lives.end();
  await lives.begin();
  await poster.post(posts.slice(posts.length / 2), { width: 4 });
  problems.push(...unacknowledged(poster.postings));
  const isDegraded = async (): Promise<boolean> => {
    const health = await lives.daemon.request("/health");
    return health.status === 200 && ((await health.json()) as { status: string }).status === "degraded";
  };
  if (!(await eventually(isDegraded))) problems.push("/health is not degraded while a platform can't be reached");
  say("restarted, and degraded");

  await lives.fix(DOWN);
  problems.push(...(await drained(view, { say })));
  return await conclude(fixture, poster, options, { scenario: "outage", problems });
}

/** The first of each conversation; the others wait behind it. */
async function haveFailed(view: InboxView): Promise<boolean> {
  const waiting = await view.waitingFor(DOWN);
  const queues = Map.groupBy(waiting, ({ conversation }) => conversation?.id);
  return [...queues.values()].every((queue) => queue.some(({ attempts }) => attempts >= FAILED_ATTEMPTS));
}
