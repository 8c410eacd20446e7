/**
 * What one everyday channel costs the daemon that has it: its start, and its memory once it is connected to its platform. In
 * turns with a daemon that has none.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY } from "../gateway.ts";
import { median } from "../measure.ts";
import { anonymousMb } from "../server.ts";
import { startAsked } from "../startup.ts";
import { type ChannelCase, channelCases } from "./cases.ts";

export interface ChannelCost {
  /** `none`: no channel is configured. */
  readonly channel: string;
  /** From spawn to the first answer on /health, median. */
  readonly healthMs: number;
  /** Anonymous memory after the channel was connected, median. */
  readonly memoryMb: number;
}

/** The one without any comes first. */
export async function measureChannels(rounds: number): Promise<ChannelCost[]> {
  const channels = await channelCases();
  const cases = [undefined, ...channels];
  const samples = cases.map(() => ({ healthMs: [] as number[], memoryMb: [] as number[] }));
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, channel] of cases.entries()) {
      const { healthMs, memoryMb } = await once(channel);
      samples[at]!.healthMs.push(healthMs);
      samples[at]!.memoryMb.push(memoryMb);
    }
  }
  for (const channel of channels) await channel.close();
  return cases.map((channel, at) => ({
    channel: channel?.id ?? "none",
    healthMs: median(samples[at]!.healthMs),
    memoryMb: median(samples[at]!.memoryMb),
  }));
}

/** As long as it takes to be connected, and to throw away what that left behind. */
const SETTLE_MS = 5_000;

async function once(channel: ChannelCase | undefined): Promise<{ healthMs: number; memoryMb: number }> {
  const home = mkdtempSync(join(tmpdir(), "svc-bench-"));
  writeFileSync(join(home, "config.toml"), channel?.section ?? "", { mode: 0o600 });
  const { server, healthMs } = await startAsked(BINARY, { SVC_HOME: home });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const memoryMb = anonymousMb(server.pid);
  if (channel?.asked() === 0) throw new Error(`the platform of ${channel.id} was never asked`);
  await server.stop();
  rmSync(home, { recursive: true, force: true });
  return { healthMs, memoryMb };
}
