import type { HardwareCost } from "./hardware.ts";

/** Differences from the build without it; the aims hold where no section is there. */
export function hardwareTable(costs: readonly HardwareCost[]): string {
  const [without] = costs;
  const rows = costs.map((cost, at) => {
    const { build, binaryMb, scriptKb } = cost;
    const measured = (key: "healthMs" | "processorMs" | "memoryMb", digits: number): string => {
      const more = cost[key] - without![key];
      return `${cost[key].toFixed(digits)} | ${at === 0 ? "" : `${more < 0 ? "" : "+"}${more.toFixed(1)}`}`;
    };
    const aim = (most: string): string => (build === "all" ? most : "");
    return (
      `| ${build} | ${binaryMb.toFixed(1)} | ${scriptKb.toFixed(0)} | ${measured("healthMs", 0)} | ${aim("≤ 3")} | ` +
      `${measured("processorMs", 0)} | ${aim("≤ 3")} | ${measured("memoryMb", 1)} | ${aim("≤ 0.5")} |`
    );
  });
  return [
    "| build | binary, MB | scripts, kB | start to /health, ms | difference | aim | of the processor, ms | difference | aim | anonymous memory, MB | difference | aim |",
    "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
