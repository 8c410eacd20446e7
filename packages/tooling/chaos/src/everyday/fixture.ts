/** The real daemon with the channels that poll or hold a connection, and people who write there. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EVERYDAY, type EverydayPlatform } from "@svc/testkit/platforms/everyday";
import { seededRandom } from "@svc/testkit/platforms/seeded-random";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { atExit } from "../fixture/at-exit.ts";
import { configOf } from "../fixture/config.ts";
import { Happenings } from "../fixture/happenings.ts";
import { Lives } from "../fixture/lives.ts";
import { startModel } from "../fixture/model.ts";
import { sleep } from "../fixture/sleep.ts";
import type { EverydayChannel } from "./asking.ts";
import { EverydayLedger } from "./ledger.ts";

export interface EverydayFixtureOptions {
  readonly seed: number;
  /** Of each platform. */
  readonly people: number;
  /** As `EverydayLedgerOptions`. */
  readonly failingReads: number;
  /** Default: as all tests of the binary have it. */
  readonly binary?: string | undefined;
}

export interface EverydayFixture extends AsyncDisposable {
  readonly home: string;
  readonly platforms: readonly EverydayPlatform[];
  readonly ledger: EverydayLedger;
  readonly happenings: Happenings;
  readonly lives: Lives;
  /** What the model was shown and should not have been. */
  readonly modelProblems: readonly string[];
}

export const CHANNELS = Object.keys(EVERYDAY) as EverydayChannel[];

/** Drafts as often as channels allow. */
const KEYS = "draft_update_interval_ms = 100";
/** A story is told with a pause in the middle, in which what is there of it can be seen; the slowest channel shows it after 1 s. */
const PAUSES_MS = [400, 1_200, 1_500, 2_500];

/** Nothing runs yet. */
export async function openEverydayFixture(options: EverydayFixtureOptions): Promise<EverydayFixture> {
  const { seed, people, failingReads, binary } = options;
  await using stack = new AsyncDisposableStack();
  const own = stack.use(temporaryHome());
  const happenings = new Happenings();
  const modelProblems: string[] = [];
  const model = stack.use(
    await startModel({
      onAsked: () => happenings.note("asked"),
      onProblem: (problem) => void modelProblems.push(problem),
      pause: pauseOnce(seededRandom(seed + 10)),
    }),
  );
  const platforms: EverydayPlatform[] = [];
  for (const channel of CHANNELS) {
    const platform = await EVERYDAY[channel]({ people });
    stack.defer(() => platform.close());
    platforms.push(platform);
  }
  const sections = platforms.map((platform) => platform.section(KEYS)).join("\n");
  const text = `${configOf([], () => "", model.url)}\n${sections}`;
  const configure = (): void => writeFileSync(join(own.path, "config.toml"), text, { mode: 0o600 });
  const lives = await Lives.of({ home: own.path, providers: [], configure, binary, env: {} });
  stack.defer(() => lives.close());
  stack.defer(atExit(() => own.remove()));
  const ledger = new EverydayLedger({
    life: () => lives.count,
    onAsked: (kind) => happenings.note(HAPPENINGS_BY_KIND[kind]),
    failingReads,
  });
  for (const [index, platform] of platforms.entries()) ledger.watch(platform, seededRandom(seed + 100 + index));
  const stored = stack.move();
  const dispose = (): Promise<void> => stored.disposeAsync();
  return { home: own.path, platforms, ledger, happenings, lives, modelProblems, [Symbol.asyncDispose]: dispose };
}

/** A repeated message is delivered at once: a message that is being answered at each kill would be quarantined as the cause. */
function pauseOnce(random: () => number): (label: string) => Promise<void> {
  const begun = new Set<string>();
  return async (label) => {
    if (begun.has(label)) return;
    begun.add(label);
    await sleep(PAUSES_MS[Math.floor(random() * PAUSES_MS.length)]!);
  };
}

const HAPPENINGS_BY_KIND = { post: "sending", edit: "editing", poll: "polled" } as const;
