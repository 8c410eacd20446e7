/** What a feature costs that is in the binary and not configured: `minimal` beside `minimal --without` it, in turns. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type BenchGateway, startGateway } from "../gateway.ts";
import { median } from "../measure.ts";
import { anonymousMb, load, processorMs } from "../server.ts";

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
const WARM_TURNS = 2_000;
const TURNS = 3_000;
const CONNECTIONS = 10;

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
      const cases = [join(whole, "svc"), binary];
      const costsOf = new Map<string, Sample>();
      for (const each of round % 2 === 0 ? cases : cases.toReversed()) costsOf.set(each, await sample(each));
      const [one, other] = cases.map((each) => costsOf.get(each)!) as [Sample, Sample];
      for (const key of ["start", "memory", "turn"] as const) ratios[key].push(one[key] / other[key]);
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

type Sample = Readonly<Record<"start" | "memory" | "turn", number>>;

/** The path of the binary without the feature. */
function built(feature: string): string {
  execFileSync(process.execPath, ["packages/tooling/compose/src/cli.ts", "minimal", "--without", feature], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return join(ROOT, "dist/custom/svc");
}

async function sample(binary: string): Promise<Sample> {
  const gateway = await startGateway(0, binary);
  const start = processorMs(gateway.pid);
  await pause(SETTLE_MS);
  const memory = anonymousMb(gateway.pid);
  await turns(gateway, WARM_TURNS);
  const before = processorMs(gateway.pid);
  await turns(gateway, TURNS);
  const turn = (processorMs(gateway.pid) - before) / TURNS;
  await gateway.stop();
  return { start, memory, turn };
}

async function turns({ port, token }: BenchGateway, maxRequests: number): Promise<void> {
  await load({
    port,
    path: "/webhook",
    connections: CONNECTIONS,
    seconds: 600,
    warmSeconds: 0,
    maxRequests,
    headers: [`authorization: Bearer ${token}`, "x-session-id: bench-{{c}}"],
    body: '{"message":"hello from the bench"}',
  });
}
