import type { HardwareCost } from "./hardware.ts";

/** Differences from the build without it; the aim holds where no section is there. */
export function hardwareTable(costs: readonly HardwareCost[]): string {
  const [without] = costs;
  const rows = costs.map((cost, at) => {
    const { build, binaryMb, scriptKb, healthMs, memoryMb } = cost;
    const more = (key: "healthMs" | "memoryMb"): string => (at === 0 ? "" : (cost[key] - without![key]).toFixed(1));
    const aim = (most: string): string => (at === 1 ? most : "");
    return `| ${build} | ${binaryMb.toFixed(1)} | ${scriptKb.toFixed(0)} | ${healthMs.toFixed(0)} | ${more("healthMs")} | ${aim("≤ 3")} | ${memoryMb.toFixed(1)} | ${more("memoryMb")} | ${aim("≤ 0.5")} |`;
  });
  return [
    "| build | binary, MB | scripts, kB | start to /health, ms | more than without | aim | anonymous memory, MB | more than without | aim |",
    "|---|---|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
