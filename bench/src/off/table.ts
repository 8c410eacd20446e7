import type { OffCost } from "./off.ts";

export const offRow = ({ without, start, memory, turn }: OffCost): string =>
  `| ${without} | ${start.toFixed(3)} | ${memory.toFixed(3)} | ${turn.toFixed(3)} |`;

export const offTable = (costs: readonly OffCost[]): string =>
  [
    "| minimal, over minimal without | processor of a start, × | idle memory, × | CPU per turn, × |",
    "|---|---|---|---|",
    ...costs.map(offRow),
  ].join("\n");
