/** A call of a plugin, through its tool: the first one, which starts its process, and the next ones; and what the process takes. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "@svc/contract";
import definition from "@svc/plugins-wasm";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { median } from "../measure.ts";

export interface PluginTimes {
  readonly firstMs: number;
  readonly warmMs: number;
  /** Of a hundred, the second slowest. */
  readonly slowMs: number;
  readonly calls: number;
  readonly processMb: number;
}

/** `(func (export "run") (call $output_set (call $input_offset) (call $input_length)))`, with a memory of 16 pages. */
const ECHO =
  "AGFzbQEAAAABDQNgAAF+YAJ+fgBgAAACXAMPZXh0aXNtOmhvc3QvZW52DGlucHV0X29mZnNldAAAD2V4dGlzbTpob3N0L2VudgxpbnB1dF9sZW5ndGgAAA9leHRpc206aG9zdC9lbnYKb3V0cHV0X3NldAABAwIBAgUDAQAQBwcBA3J1bgADCgoBCAAQABABEAIL";

const INPUT = "x".repeat(1024);

export async function measurePlugins(
  rounds: number,
  calls: number,
  binary = fullestBinaryPath(),
): Promise<PluginTimes> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  try {
    const wasm = Buffer.from(ECHO, "base64");
    const wasmFile = join(folder, "echo.wasm");
    writeFileSync(wasmFile, wasm);
    const plugin = {
      name: "echo",
      version: "1.0.0",
      description: "Says what it is told.",
      wasmFile,
      sha256: createHash("sha256").update(wasm).digest("hex"),
      allowedHosts: [],
      limits: { memoryMb: 64, timeoutMs: 10_000, maxOutputBytes: 65_536 },
      folder,
    };
    const firsts: number[] = [];
    const warm: number[] = [];
    const sizes: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const { create } = await definition.load();
      const context = {
        survey: [plugin],
        child: (name: string) => [binary, `__${name}`] as const,
        clock: systemClock(),
      };
      const { tools, shutdown } = create(fakeFeatureContext({ enabled: true, plugins_dir: folder }, context as never));
      const call = async (): Promise<number> => {
        const before = performance.now();
        const output = await tools![0]!.run({ input: INPUT }, fakeToolContext());
        if (output !== INPUT) throw new Error("the plugin does not work");
        return performance.now() - before;
      };
      firsts.push(await call());
      for (let count = 0; count < calls; count += 1) warm.push(await call());
      sizes.push(residentMb(process.pid));
      await shutdown!();
    }
    const sorted = warm.toSorted((one, other) => one - other);
    const slowMs = sorted[Math.floor(sorted.length * 0.99)]!;
    return { firstMs: median(firsts), warmMs: median(warm), slowMs, calls: warm.length, processMb: median(sizes) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Of the one child that `ps` itself is not. */
function residentMb(parent: number): number {
  const lines = execFileSync("ps", ["--ppid", String(parent), "-o", "rss=,comm="], { encoding: "utf8" }).split("\n");
  return Math.max(...lines.map((line) => (line.endsWith(" ps") ? 0 : Number.parseInt(line.trim(), 10) || 0))) / 1024;
}

function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    after(delayMs, run) {
      const timer = setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    },
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}
