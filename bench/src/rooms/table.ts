import type { RoomsCost } from "./rooms.ts";

export function roomsTable(costs: readonly RoomsCost[]): string {
  const [none] = costs;
  const rows = costs.map(({ channel, healthMs, memoryMb }) => {
    const more = (own: number, others: number, aim: number): string =>
      channel === "none" ? " | " : `${(own - others).toFixed(1)} | ≤ ${aim}`;
    return `| ${channel} | ${healthMs.toFixed(0)} | ${more(healthMs, none!.healthMs, 150)} | ${memoryMb.toFixed(1)} | ${more(memoryMb, none!.memoryMb, 60)} |`;
  });
  return [
    "| channel | start to /health, ms | more than none | aim | anonymous memory, MB | more than none | aim |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
