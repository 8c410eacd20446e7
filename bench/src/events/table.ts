/** The results of events as a Markdown table. */
import type { Events } from "./events.ts";

export function eventsTable({ readers, p50Ms, p99Ms, kbPerReader, publishUs }: Events): string {
  return [
    "| events | measured | aim |",
    "|---|---|---|",
    `| 512 bytes to ${readers} readers, from the request until the last one has it, p50 | ${p50Ms.toFixed(1)} ms | ≤ 60 ms |`,
    `| the same, p99 | ${p99Ms.toFixed(1)} ms | |`,
    `| anonymous memory of the daemon for each reader | ${kbPerReader.toFixed(1)} kB | ≤ 30 kB |`,
    `| publishing with no reader | ${publishUs.toFixed(2)} µs | ≤ 5 µs |`,
  ].join("\n");
}
