/** The disk of the home is full: 503 and nothing of it kept, over a kill too; with room again everything goes on. */
import { mountSmallDisk, NO_SMALL_DISK } from "@svc/testkit/real/small-disk";
import { drained } from "../fixture/drained.ts";
import { openFixture } from "../fixture/fixture.ts";
import { Poster } from "../fixture/poster.ts";
import { planOf } from "../plan/plan.ts";
import { conclude } from "./conclude.ts";
import { firstLife } from "./first-life.ts";
import { oddAnswers, Refused, refusedWith } from "./refusals.ts";
import { notRun, type Report, type ScenarioOptions } from "./scenario.ts";

const DELIVERIES = 90;
const SIZE_MB = 32;

export async function diskFull(options: ScenarioOptions): Promise<Report> {
  const { seed, binary, say = () => {} } = options;
  using disk = mountSmallDisk(SIZE_MB);
  if (!disk) return notRun("disk-full", seed, NO_SMALL_DISK);
  // Those that come again until they are told 200.
  await using fixture = await openFixture({ seed, binary, home: disk.path, providers: ["provider_a", "provider_c"] });
  const { lives, providers } = fixture;
  const { deliveries } = planOf({ seed, deliveries: DELIVERIES, kills: 0, writers: providers });
  const [before, meanwhile, after] = [0, 1, 2].map((third) => deliveries.slice(third * 30, third * 30 + 30));
  const refused = new Refused();
  using poster = new Poster(fixture, { pause: () => refused.pause() });
  const problems: string[] = [];
  const check = async (found: Promise<readonly string[]>): Promise<void> => void problems.push(...(await found));

  const view = await firstLife(fixture);
  await poster.post(before!, { width: 4 });
  await check(drained(view, { say }));

  disk.fill();
  say("the disk is full");
  const posted = poster.post(meanwhile!, { width: meanwhile!.length });
  await check(refused.decided(meanwhile!, poster.postings));
  await check(refusedWith("STORE_FULL", fixture));
  await lives.kill();
  await lives.begin();
  say("killed, and started on the full disk");
  await check(refusedWith("STORE_FULL", fixture));
  disk.empty();
  refused.comeAgain();
  say("there is room again");
  await posted;
  await poster.post(after!, { width: 4 });
  await check(drained(view, { say }));

  problems.push(...oddAnswers(poster.postings));
  return await conclude(fixture, poster, options, { scenario: "disk-full", problems, wasUnwritable: true });
}
