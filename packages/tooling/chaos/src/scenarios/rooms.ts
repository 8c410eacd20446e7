/**
 * People write in a Matrix room, an encrypted one, and chats of Lark and Feishu, while the daemon is killed again and again, answers of
 * the platforms get lost, keys come after what they open, and all platforms are out of order for a while. All of them take an idempotency key: nothing arrives twice.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkDatabase } from "@svc/store";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { eventually, sleep } from "../fixture/sleep.ts";
import { databaseOf } from "../judge/database.ts";
import { keepEvidence } from "./evidence.ts";
import { answerTo, openRoomsWorld, PLACES, type Shown, type Written } from "./rooms-world.ts";
import { type Facts, notRun, type Report, type ScenarioOptions } from "./scenario.ts";

const LONGEST_LIFE_MS = 1_200;
const OUTAGE_MS = 2_500;
/** Share of the daemon's requests that meet a failure. */
const FAILING = 0.05;
/** Messages that are written while one life lasts, at least. */
const PER_LIFE = 4;
const LONGEST_ANSWER_MS = 180_000;

export async function rooms(options: ScenarioOptions): Promise<Report> {
  const { seed, messages = 200, kills, binary, evidence, say = () => {} } = options;
  const program = binary ?? fullestOrNone();
  if (program === undefined) {
    return notRun("rooms", seed, { name: "the full build", reason: "dist/all/svc is missing; pnpm build all" });
  }
  await using world = await openRoomsWorld(seed, program);
  const { moods } = world;
  const random = seededRandom(seed);
  const written = Array.from({ length: messages }, (_, at): Written => ({
    label: `message ${at}.`,
    place: PLACES[Math.floor(random() * PLACES.length)]!,
  }));
  await world.begin();
  await world.ready();
  moods.failing = FAILING;

  const perLife = Math.max(PER_LIFE, Math.ceil(messages / (kills + 1)));
  const outages = new Set([Math.floor(kills / 3), Math.floor((2 * kills) / 3)]);
  let next = 0;
  for (let kill = 1; kill <= kills; kill += 1) {
    const writing = world.write(written.slice(next, next + perLife));
    next += perLife;
    if (outages.has(kill)) {
      moods.isDown = true;
      await sleep(OUTAGE_MS);
      moods.isDown = false;
    }
    const lifeMs = Math.round(random() * LONGEST_LIFE_MS);
    await sleep(lifeMs);
    await world.daemon().kill9();
    say(`kill ${kill} of ${kills}: after ${lifeMs} ms`);
    await world.begin();
    await writing;
    world.handOverAgain();
  }
  await world.write(written.slice(next));
  const isAnswered = (): boolean => {
    const texts = new Set(world.shown().map(({ text }) => text));
    return written.every(({ label }) => texts.has(answerTo(label)));
  };
  const problems = (await eventually(isAnswered, LONGEST_ANSWER_MS)) ? [] : ["not everything is answered"];
  moods.failing = 0;
  await world.daemon().stop();
  const { problems: damage } = await checkDatabase(databaseOf(world.home), {
    quick: false,
    clock: { monotonic: () => performance.now() },
  });
  const judged = judge(written, world.shown());
  const facts: Facts = { kills, outages: outages.size, ...judged.facts, ...world.facts() };
  const wrong = [...problems, ...judged.problems, ...world.faults(), ...damage.map((one) => `database: ${one}`)];
  if (wrong.length > 0 && evidence !== undefined) {
    const folder = join(evidence, "rooms");
    keepEvidence({ home: world.home, lives: world }, folder);
    writeFileSync(join(folder, "timeline.json"), JSON.stringify(world.timeline(), null, 1));
  }
  return { scenario: "rooms", seed, problems: wrong, facts };
}

function judge(written: readonly Written[], shown: readonly Shown[]): Pick<Report, "problems" | "facts"> {
  const problems: string[] = [];
  const counts = Map.groupBy(shown, ({ place, text }) => `${place}: ${text}`);
  for (const { label, place } of written) {
    const wanted = `${place}: ${answerTo(label)}`;
    const times = counts.get(wanted)?.length ?? 0;
    if (times !== 1) problems.push(`${wanted} is there ${times} times`);
    counts.delete(wanted);
  }
  for (const other of counts.keys()) problems.push(`${other} was asked for by no message`);
  const byPlace = Object.fromEntries(
    PLACES.map((place) => [`answers, ${place}`, shown.filter((one) => one.place === place).length]),
  );
  return { problems, facts: { "messages written": written.length, "answers shown": shown.length, ...byPlace } };
}

export function fullestOrNone(): string | undefined {
  try {
    const path = fullestBinaryPath();
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
