/** People write on the channels that poll or hold a connection, while the daemon is killed again and again, and platforms fail. */
import { join } from "node:path";
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { type EverydayFixture, openEverydayFixture } from "../everyday/fixture.ts";
import { judgeEveryday, shownIn } from "../everyday/judge.ts";
import { notedDrafts } from "../everyday/noted-drafts.ts";
import { peopleIn, write, type Written, writingsOf } from "../everyday/people.ts";
import { makeTrouble } from "../everyday/trouble.ts";
import { drained } from "../fixture/drained.ts";
import { InboxView } from "../fixture/inbox.ts";
import { Release } from "../fixture/release.ts";
import { eventually, sleep } from "../fixture/sleep.ts";
import { type Happening, type Kill, killsOf } from "../plan/kills.ts";
import { labelIn } from "../plan/messages.ts";
import { keepEvidence } from "./evidence.ts";
import type { Report, ScenarioOptions } from "./scenario.ts";

const HAPPENINGS: readonly Happening[] = ["posted", "polled", "asked", "sending", "editing", "editing"];
/** A happening that does not come any more is not waited for longer. */
const LONGEST_WAIT_MS = 1_200;
/** Of a daemon that has nothing to do: less than it would give to running turns. */
const LONGEST_END_MS = 25_000;
/** Polls, and the way to a connection, fail so often, unless it is said otherwise. */
const FAILING_READS = 0.02;

export async function everyday(options: ScenarioOptions): Promise<Report> {
  const { seed, messages = 400, binary, failingReads, evidence, say = () => {} } = options;
  // A life has to be long enough for a connection.
  const kills = Math.ceil(options.kills / 2);
  const writings = writingsOf(seed, messages);
  await using fixture = await openEverydayFixture({
    seed,
    people: peopleIn(writings),
    failingReads: failingReads || FAILING_READS,
    binary,
  });
  const { lives, ledger } = fixture;
  const release = new Release();
  const noted = new Set<string>();

  await lives.begin();
  const view = new InboxView(lives, await lives.daemon.pair());
  // What was said before a bot was ever there is not said to it.
  const areKnown = (): boolean => lives.output().match(KNOWN)?.length === fixture.platforms.length;
  if (!(await eventually(areKnown))) throw new Error(`a channel does not get ready:\n${lives.output()}`);
  ledger.isCalm = false;
  const trouble = makeTrouble(fixture, seed);
  const written = write(fixture, writings, { release, seed });
  for (const [index, kill] of killsOf(kills, messages, seededRandom(seed + 2), HAPPENINGS).entries()) {
    // People write while the daemon starts, too.
    release.upTo(kill.released);
    if (index > 0 && kill.at !== "start") await lives.begin();
    await killOnce(fixture, kill);
    for (const label of notedDrafts(fixture.home)) noted.add(`${lives.count} ${label}`);
    say(`kill ${index + 1} of ${kills}: ${kill.at}`);
  }
  release.upTo(Infinity);
  await Promise.all([written, trouble.end()]);
  if (kills > 0) await lives.begin();
  const problems = (await eventually(() => isAnswered(fixture, writings), 60_000))
    ? []
    : ["not everything is answered"];
  ledger.isCalm = true;
  // What rests after a failure would rest for minutes: the next start sends it at once.
  await lives.end();
  await lives.begin();
  problems.push(...(await settled(fixture, view, say)));
  const judged = await judgeEveryday(fixture, writings, noted);
  const report = {
    scenario: "everyday",
    seed,
    problems: [...problems, ...lateEnd(lives.longestEndMs), ...judged.problems],
    facts: {
      kills,
      ...judged.facts,
      ...Object.fromEntries([...trouble.counts].toSorted()),
      "longest start, ms": Math.round(lives.longestStartMs),
      "longest end, ms": Math.round(lives.longestEndMs),
    },
  };
  if (report.problems.length > 0 && evidence !== undefined) keepEvidence(fixture, join(evidence, "everyday"));
  return report;
}

const KNOWN = /the platform knows this channel/g;

async function killOnce({ lives, happenings }: EverydayFixture, kill: Kill): Promise<void> {
  if (kill.at === "start") return lives.beginAndKill(kill.share * lives.longestStartMs);
  await Promise.race([happenings.next(kill.at, kill.count), sleep(LONGEST_WAIT_MS)]);
  if (kill.delayMs > 0) await sleep(kill.delayMs);
  await lives.kill();
}

const lateEnd = (ms: number): string[] =>
  ms < LONGEST_END_MS ? [] : [`an end in order took ${Math.round(ms)} ms although there was nothing left to do`];

/** Something of an answer to each is there. */
function isAnswered({ platforms }: EverydayFixture, writings: readonly Written[]): boolean {
  const labels = new Set(shownIn(platforms).map(({ text }) => labelIn(text)));
  return writings.every(({ label }) => labels.has(label));
}

/** Nothing waits any more, also of what platforms hand over once more. */
async function settled(
  { platforms }: EverydayFixture,
  view: InboxView,
  say: (line: string) => void,
): Promise<string[]> {
  const problems = await drained(view, { say });
  const isConfirmed = (): boolean =>
    platforms.map((platform) => platform.handOverAgain()).every((count) => count === 0);
  if (!(await eventually(isConfirmed, 30_000))) problems.push("what a platform handed over is not confirmed");
  return [...problems, ...(await drained(view, { say }))];
}
