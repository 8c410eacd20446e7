/** What a feature costs that is in the binary and not configured: `minimal` beside `minimal --without` it, in turns. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type BenchGateway, startGateway } from "../gateway.ts";
import { median } from "../measure.ts";
import { measureBursts, turnsOf, warm } from "../guard/round.ts";
import { anonymousMb, processorMs } from "../server.ts";

/** The medians of pairs: `minimal` over the build without the feature. */
export interface OffCost {
  /** `nothing`: the same build twice, which shows the noise. */
  readonly without: string;
  /** Of the processor until the daemon listens. */
  readonly start: number;
  readonly memory: number;
  readonly turn: number;
}

const ROOT = resolve(import.meta.dirname, "../../..");
const SETTLE_MS = 1_000;
/** At 50 connections. */
const WARM_BURSTS = 60;
const TURNS = { width: 10, bursts: 250 };
const KEYS = ["start", "memory", "turn"] as const;

export async function measureOff(rounds: number, say: (cost: OffCost) => void): Promise<OffCost[]> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  using stack = new DisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const whole = join(ROOT, "dist/minimal");
  const { features } = JSON.parse(readFileSync(join(whole, "build.json"), "utf8")) as {
    readonly features: readonly { readonly id: string }[];
  };
  const costs: OffCost[] = [];
  for (const without of [undefined, ...features.map(({ id }) => id)]) {
    const binary = join(folder, "without");
    copyFileSync(without === undefined ? join(whole, "svc") : built(without), binary);
    const ratios = { start: [] as number[], memory: [] as number[], turn: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      const isMirrored = round % 2 === 1;
      const pair = [join(whole, "svc"), binary];
      const samples = await sampled(isMirrored ? pair.toReversed() : pair);
      const [one, other] = (isMirrored ? samples.toReversed() : samples) as [Sample, Sample];
      for (const key of KEYS) ratios[key].push(one[key] / other[key]);
    }
    const cost = {
      without: without ?? "nothing",
      start: median(ratios.start),
      memory: median(ratios.memory),
      turn: median(ratios.turn),
    };
    costs.push(cost);
    say(cost);
    rmSync(binary);
  }
  return costs;
}

type Sample = Readonly<Record<(typeof KEYS)[number], number>>;

/** The path of the binary without the feature. */
function built(feature: string): string {
  execFileSync(process.execPath, ["packages/tooling/compose/src/cli.ts", "minimal", "--without", feature], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return join(ROOT, "dist/custom/svc");
}

/** Both at once: their turns come burst by burst, so that what disturbs the machine disturbs both. */
async function sampled(binaries: readonly string[]): Promise<Sample[]> {
  await using stack = new AsyncDisposableStack();
  const gateways: BenchGateway[] = [];
  const starts: number[] = [];
  for (const binary of binaries) {
    const gateway = await startGateway(0, binary);
    stack.defer(() => gateway.stop());
    starts.push(processorMs(gateway.pid));
    gateways.push(gateway);
  }
  await pause(SETTLE_MS);
  const memory = gateways.map(({ pid }) => anonymousMb(pid));
  const next = turnsOf(gateways);
  await warm(gateways, { bursts: WARM_BURSTS, status: 200, next });
  const turns = await measureBursts(gateways, { ...TURNS, status: 200, next });
  return binaries.map((_, at) => ({ start: starts[at]!, memory: memory[at]!, turn: turns[at]! }));
}
