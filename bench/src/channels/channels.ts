/**
 * What one everyday channel costs the daemon that has it: its start, and its memory once it is connected to its platform. In
 * turns with a daemon that has none.
 */
import { EVERYDAY, type EverydayPlatform } from "@svc/testkit";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY } from "../gateway.ts";
import { median } from "../measure.ts";
import { anonymousMb, startServer } from "../server.ts";

export interface ChannelCost {
  /** `none`: no channel is configured. */
  readonly channel: string;
  /** From spawn to the line that says that the gateway listens, median. */
  readonly startMs: number;
  /** Anonymous memory after the channel was connected, median. */
  readonly memoryMb: number;
}

/** The one without any comes first. */
export async function measureChannels(rounds: number): Promise<ChannelCost[]> {
  const platforms = await Promise.all(Object.values(EVERYDAY).map((start) => start()));
  const cases = [undefined, ...platforms];
  const samples = cases.map(() => ({ startMs: [] as number[], memoryMb: [] as number[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, platform] of cases.entries()) {
      const { startMs, memoryMb } = await once(platform);
      samples[at]!.startMs.push(startMs);
      samples[at]!.memoryMb.push(memoryMb);
    }
  }
  for (const platform of platforms) await platform.close();
  return cases.map((platform, at) => ({
    channel: platform?.id ?? "none",
    startMs: median(samples[at]!.startMs),
    memoryMb: median(samples[at]!.memoryMb),
  }));
}

/** As long as it takes to be connected, and to throw away what that left behind. */
const SETTLE_MS = 5_000;

async function once(platform: EverydayPlatform | undefined): Promise<{ startMs: number; memoryMb: number }> {
  const home = mkdtempSync(join(tmpdir(), "svc-bench-"));
  writeFileSync(join(home, "config.toml"), platform?.section() ?? "", { mode: 0o600 });
  const server = await startServer([BINARY, "daemon"], { SVC_HOME: home, SVC__GATEWAY__PORT: "0" });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const memoryMb = anonymousMb(server.pid);
  if (platform && platform.requests.length === 0) throw new Error(`${platform.id} was never asked`);
  await server.stop();
  rmSync(home, { recursive: true, force: true });
  return { startMs: server.startMs, memoryMb };
}
