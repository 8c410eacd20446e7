import type { Idle } from "./idle.ts";

export function idleTable(idle: Idle): string {
  const { readers, kbPerReader, idleMsPerSecond, withoutReadersMsPerSecond, deliveredMs } = idle;
  const end = idle.isCutOff ? "its connection is closed" : "its connection stays open";
  return [
    "| idle subscribers | measured |",
    "|---|---|",
    `| anonymous memory for each of ${readers} | ${kbPerReader.toFixed(1)} kB |`,
    `| processor with them, in a second without events | ${idleMsPerSecond.toFixed(2)} ms |`,
    `| processor without any, in a second | ${withoutReadersMsPerSecond.toFixed(2)} ms |`,
    `| one event, from the request until the last of them has it, p50 | ${deliveredMs.toFixed(0)} ms |`,
    `| memory after ${idle.unreadMb.toFixed(0)} MB of events that one subscriber does not read | ${idle.heldMb.toFixed(1)} MB more; ${end} |`,
  ].join("\n");
}
