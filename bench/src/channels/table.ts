import type { ChannelCost } from "./channels.ts";

export function channelsTable(costs: readonly ChannelCost[]): string {
  const [none] = costs;
  const rows = costs.map(({ channel, healthMs, memoryMb }) => {
    const more = (own: number, others: number): string => (channel === "none" ? "" : (own - others).toFixed(1));
    return `| ${channel} | ${healthMs.toFixed(0)} | ${more(healthMs, none!.healthMs)} | ${memoryMb.toFixed(1)} | ${more(memoryMb, none!.memoryMb)} |`;
  });
  return [
    "| channel | start to /health, ms | more than none | anonymous memory, MB | more than none |",
    "|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
