import type { ChannelCost } from "./channels.ts";

export function channelsTable(costs: readonly ChannelCost[]): string {
  const [none] = costs;
  const rows = costs.map(({ channel, startMs, memoryMb }) => {
    const more = (own: number, others: number): string => (channel === "none" ? "" : (own - others).toFixed(1));
    return `| ${channel} | ${startMs.toFixed(0)} | ${more(startMs, none!.startMs)} | ${memoryMb.toFixed(1)} | ${more(memoryMb, none!.memoryMb)} |`;
  });
  return [
    "| channel | start, ms | more than none | anonymous memory, MB | more than none |",
    "|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
