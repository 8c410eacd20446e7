/** Procedures of the daemon under attack, a run of one that waits, and a question of a program. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunningBinary } from "@svc/testkit/binary/start-binary";

/** What starts one. */
export const SOP_PATH = "/sop/fuzz";
const BY_HAND = "by-hand";

export function writeProcedures(home: string): void {
  const triggers = { hook: `type = "webhook"\npath = "${SOP_PATH}"`, [BY_HAND]: 'type = "manual"' };
  for (const [name, trigger] of Object.entries(triggers)) {
    const folder = join(home, "workspace", "sops", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SOP.toml"), `[sop]\nmax_concurrent = 2\n[[triggers]]\n${trigger}\n`);
    writeFileSync(join(folder, "SOP.md"), "## Steps\n\n1. **Look** — Look at it.\n");
  }
}

/** By the documented path that they stand behind. */
export async function begin(daemon: RunningBinary, token: string): Promise<ReadonlyMap<string, string>> {
  const run = async (): Promise<string> => {
    const started = await daemon.request(`/api/sops/${BY_HAND}/runs`, { method: "POST", token });
    return ((await started.json()) as { run_id?: string }).run_id ?? "none";
  };
  const question = { type: "human_approval_request", run_id: "fuzz", step_id: "step" };
  await daemon.request("/api/channel-events", { method: "POST", body: question });
  return new Map([
    ["/api/sops/{name}/runs", `/api/sops/${BY_HAND}/runs`],
    ["/api/sop-runs/{id}", `/api/sop-runs/${await run()}`],
    ["/api/sop-runs/{id}/cancel", `/api/sop-runs/${await run()}/cancel`],
    ["/api/approvals/{run_id}/{step_id}", "/api/approvals/fuzz/step"],
  ]);
}
