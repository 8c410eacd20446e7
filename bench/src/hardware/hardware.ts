/**
 * What `hardware` costs those who have it and those who use it: the build `all` beside the same build without it, in turns. That build is
 * measured twice, which shows how far two equal ones differ.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { median } from "../measure.ts";
import { anonymousMb, processorMs } from "../server.ts";
import { startAsked } from "../startup.ts";

export interface HardwareCost {
  readonly build: string;
  readonly binaryMb: number;
  /** Of all scripts in the binary. */
  readonly scriptKb: number;
  /** From spawn to the first answer on /health, median. */
  readonly healthMs: number;
  /** Of the processor until 0.2 s later, median. */
  readonly processorMs: number;
  /** Anonymous, median. */
  readonly memoryMb: number;
}

const ROOT = resolve(import.meta.dirname, "../../..");
const SETTLE_MS = 3000;

const CASES = [
  { build: "all --without hardware", folder: "custom", config: "" },
  { build: "the same again", folder: "custom", config: "" },
  { build: "all", folder: "all", config: "" },
  { build: "all, with [hardware]", folder: "all", config: "[hardware]\n" },
] as const;

export async function measureHardware(rounds: number): Promise<HardwareCost[]> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  using stack = new DisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync(process.execPath, ["packages/tooling/compose/src/cli.ts", "all", "--without", "hardware"], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const runs = CASES.map(({ build, folder: built, config }, at) => {
    const home = join(folder, String(at));
    mkdirSync(home);
    writeFileSync(join(home, "config.toml"), config, { mode: 0o600 });
    const samples = { healthMs: [] as number[], processorMs: [] as number[], memoryMb: [] as number[] };
    return { build, built, home, sizes: sizesOf(built), ...samples };
  });
  // The first start of a home makes keys.
  for (let round = -1; round < rounds; round += 1) {
    // Each begins as many rounds as the others: what ran before makes a difference.
    const first = (round + 1) % runs.length;
    for (const { built, home, healthMs, processorMs: workMs, memoryMb } of [
      ...runs.slice(first),
      ...runs.slice(0, first),
    ]) {
      // Where the pages of an executable lie in memory makes equal files differ: a new copy makes this a part of the noise.
      const binary = join(folder, "svc");
      copyFileSync(join(ROOT, "dist", built, "svc"), binary);
      // Read once, so that no start waits for the disk.
      execFileSync(binary, ["--version"], { stdio: "ignore" });
      const { server, healthMs: ms } = await startAsked(binary, { SVC_HOME: home });
      const work = processorMs(server.pid);
      await pause(SETTLE_MS);
      const mb = anonymousMb(server.pid);
      await server.stop();
      rmSync(binary);
      if (round < 0) continue;
      healthMs.push(ms);
      workMs.push(work);
      memoryMb.push(mb);
    }
  }
  return runs.map(({ build, sizes, healthMs, processorMs: workMs, memoryMb }) => ({
    build,
    ...sizes,
    healthMs: median(healthMs),
    processorMs: median(workMs),
    memoryMb: median(memoryMb),
  }));
}

function sizesOf(built: string): Pick<HardwareCost, "binaryMb" | "scriptKb"> {
  const { binary, js } = JSON.parse(readFileSync(join(ROOT, "dist", built, "build.json"), "utf8")) as {
    readonly binary: { readonly bytes: number };
    readonly js: { readonly bytes: number };
  };
  return { binaryMb: binary.bytes / 1e6, scriptKb: js.bytes / 1e3 };
}
