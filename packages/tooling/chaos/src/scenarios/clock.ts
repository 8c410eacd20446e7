/** The wall clock jumps ten minutes ahead, over a kill twenty minutes back, and then to the truth, while platforms fail. */
import { drained } from "../fixture/drained.ts";
import { openFixture } from "../fixture/fixture.ts";
import { Poster } from "../fixture/poster.ts";
import { planOf } from "../plan/plan.ts";
import { ALL_PROVIDERS } from "../providers/index.ts";
import type { Provider } from "../providers/provider.ts";
import { conclude } from "./conclude.ts";
import { firstLife } from "./first-life.ts";
import { movableClock, NO_MOVABLE_CLOCK } from "./movable-clock.ts";
import { notRun, type Report, type ScenarioOptions } from "./scenario.ts";

const JUMP_SECS = 600;
const DELIVERIES = 160;
/** Signs the time: what is five minutes off is refused. */
const SIGNING_TIME = "provider_b";

export async function clock(options: ScenarioOptions): Promise<Report> {
  const { seed, binary, failingReads, say = () => {} } = options;
  using wall = movableClock();
  if (!wall) return notRun("clock", seed, NO_MOVABLE_CLOCK);
  await using fixture = await openFixture({ seed, binary, failingReads, providers: ALL_PROVIDERS, env: wall.env });
  const { lives, ledger, providers } = fixture;
  const writers = providers.filter(({ channel }) => channel !== SIGNING_TIME);
  const signing = providers.find(({ channel }) => channel === SIGNING_TIME)!;
  const { deliveries } = planOf({ seed, deliveries: DELIVERIES, kills: 0, writers });
  const quarter = DELIVERIES / 4;
  const [first, ahead, behind, last] = [0, 1, 2, 3].map((at) => deliveries.slice(at * quarter, (at + 1) * quarter));
  using poster = new Poster(fixture);
  const problems: string[] = [];
  const expectSigned = async (label: string, expected: number): Promise<void> => {
    const status = await postOnce(lives.url, signing, label);
    if (status !== expected) problems.push(`${label} was answered ${status}, not ${expected}`);
  };

  const view = await firstLife(fixture);
  ledger.isCalm = false;
  await poster.post(first!, { width: 4 });
  await expectSigned("b0-1", 200);
  wall.set(JUMP_SECS);
  say("ten minutes ahead");
  await poster.post(ahead!, { width: 4 });
  await expectSigned("b0-2", 401);
  await lives.kill();
  wall.set(-JUMP_SECS);
  await lives.begin();
  say("killed, and started ten minutes behind");
  await poster.post(behind!, { width: 4 });
  await expectSigned("b0-2", 401);
  wall.set(0);
  say("right again");
  await poster.post(last!, { width: 4 });
  await expectSigned("b0-2", 200);
  ledger.isCalm = true;
  problems.push(...(await drained(view, { say })));
  return await conclude(fixture, poster, options, { scenario: "clock", problems });
}

async function postOnce(url: string, { path, delivery }: Provider, label: string): Promise<number> {
  const { method, query, headers, body } = delivery([{ label, kind: "note", conversation: "b0" }]);
  return (await fetch(`${url}${path}${query}`, { method, headers, body: Buffer.from(body) })).status;
}
