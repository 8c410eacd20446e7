import type { SandboxTime } from "./sandboxes.ts";

export function sandboxTable(times: readonly SandboxTime[]): string {
  const rows = times.map(({ name, ms, overheadMs, aim, reason }) =>
    ms === undefined || overheadMs === undefined
      ? `| ${name} | not available | ${reason ?? ""} | ${aim} |`
      : `| ${name} | ${ms.toFixed(1)} | ${overheadMs.toFixed(1)} | ${aim} |`,
  );
  return ["| /bin/true in | ms | more than a bare spawn, ms | aim |", "|---|---|---|---|", ...rows].join("\n");
}
