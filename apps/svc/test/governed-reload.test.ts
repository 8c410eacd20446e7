// A reload while approvals and runs wait: another workspace has other procedures, other limits count from the next request on,
// and a channel that is gone takes nobody's question with it.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "@svc/contract";
import { expect, test } from "vitest";
import { type ChannelHouse, eventually } from "./channel-house.ts";
import { startGovernedHouse, writeProcedure } from "./governed-house.ts";

const procedure = (more = ""): { toml: string } => ({
  toml: `[sop]\ndescription = "A procedure."\nmax_concurrent = 9\n${more}\n[[triggers]]\ntype = "manual"\n`,
});

interface Sops {
  readonly sops: readonly { readonly name: string; readonly execution_mode: string }[];
}

const names = async (house: ChannelHouse): Promise<string[]> =>
  (await house.json<Sops>("sop", "list")).sops.map(({ name }) => name);

const ask = (house: ChannelHouse, run: string): Promise<Response> =>
  house.daemon.request("/api/channel-events", {
    method: "POST",
    body: { type: "human_approval_request", run_id: run, step_id: "go", channels: ["provider_a"] },
  });

test("another workspace has other procedures; the run of the old one goes on as it began", async () => {
  await using house = await startGovernedHouse();
  writeProcedure(house.home, "old", procedure());
  const { id } = await house.json<{ id: string }>("sop", "run", "old");
  await eventually(
    () => house.platform.sent,
    ({ length }) => length > 0,
  );
  const other = join(house.home, "other");
  mkdirSync(other);
  writeProcedure(other, "new", procedure());
  renameSync(join(other, "workspace"), join(house.home, "elsewhere"));
  house.config(`[workspace]\npath = "elsewhere"\n`);
  expect(await house.svc("reload")).toMatchObject({ code: EXIT.ok });
  expect(await names(house)).toEqual(["new"]);
  expect(await house.svc("sop", "run", "old")).toMatchObject({ stderr: expect.stringContaining("SOP_UNKNOWN") });
  await house.svc("approvals", "approve", id);
  const show = (): Promise<{ status: string }> => house.json("sop", "show", id);
  expect(await eventually(show, ({ status }) => status === "completed")).toMatchObject({ status: "completed" });
  expect((await house.svc("sop", "run", "new")).code).toBe(EXIT.ok);
});

test("limits and modes count from the reload on, for what comes then", async () => {
  await using house = await startGovernedHouse();
  writeProcedure(house.home, "one", procedure());
  await ask(house, "before");
  house.config(
    `[approvals]\nexpire_secs = 3600\n[sop]\nmax_concurrent_total = 1\ndefault_execution_mode = "step_by_step"\n`,
  );
  await house.svc("reload");
  await ask(house, "after");
  const { approvals } = await house.json<{ approvals: { created_at: string; expires_at: string }[] }>(
    "approvals",
    "list",
  );
  const hours = approvals.map(
    ({ created_at: from, expires_at: to }) => (Date.parse(to) - Date.parse(from)) / 3_600_000,
  );
  expect(hours).toEqual([1, 24]);
  expect((await house.json<Sops>("sop", "list")).sops).toMatchObject([{ execution_mode: "step_by_step" }]);
  expect((await house.svc("sop", "run", "one")).code).toBe(EXIT.ok);
  expect(await house.svc("sop", "run", "one")).toMatchObject({
    stderr: expect.stringContaining("max_concurrent_total"),
  });
});

test("a channel that goes while its question waits: it is answered elsewhere, and the chat hears of it when it is back", async () => {
  await using house = await startGovernedHouse();
  expect(await (await ask(house, "build-17")).json()).toMatchObject({ skipped: [] });
  await eventually(
    () => house.platform.sent,
    ({ length }) => length === 1,
  );
  writeFileSync(join(house.home, "config.toml"), "", { mode: 0o600 });
  expect(await house.svc("reload")).toMatchObject({ code: EXIT.ok });
  expect(await (await ask(house, "build-18")).json()).toMatchObject({ skipped: ["provider_a"] });
  expect(await house.json("approvals", "approve", "build-17")).toMatchObject({ status: "approved" });
  expect(house.platform.sent).toHaveLength(1);
  house.config("");
  await house.svc("reload");
  const told = await eventually(
    () => house.platform.sent,
    ({ length }) => length > 1,
  );
  expect(told.map(({ text }) => text)).toEqual([
    expect.stringContaining("Approval needed (#1)"),
    expect.stringContaining("approved by an operator at the command line"),
  ]);
});

test("who is an approver after the reload may answer what was asked before it", async () => {
  await using house = await startGovernedHouse();
  house.config("", 'notification_target = "+15551234567"');
  await house.svc("reload");
  await ask(house, "build-17");
  await eventually(
    () => house.platform.sent,
    ({ length }) => length === 1,
  );
  expect(house.platform.sent[0]!.text).not.toContain('write "approve"');
  house.config("");
  await house.svc("reload");
  await house.write({ text: "approve" });
  const left = (): Promise<{ approvals: object[] }> => house.json("approvals", "list");
  expect(await eventually(left, ({ approvals }) => approvals.length === 0)).toEqual({ approvals: [] });
});
