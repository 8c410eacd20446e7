// A reload while approvals and runs wait: another workspace has other procedures, other limits count from the next request on,
// and a channel that is gone takes nobody's question with it.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "@svc/contract";
import { expect, test } from "vitest";
import { type ChannelFixture, eventually } from "./channel-fixture.ts";
import { startGovernedFixture, writeProcedure } from "./governed-fixture.ts";

const procedure = (more = ""): { toml: string } => ({
  toml: `[sop]\ndescription = "A procedure."\nmax_concurrent = 9\n${more}\n[[triggers]]\ntype = "manual"\n`,
});

interface Sops {
  readonly sops: readonly { readonly name: string; readonly execution_mode: string }[];
}

const names = async (fixture: ChannelFixture): Promise<string[]> =>
  (await fixture.json<Sops>("sop", "list")).sops.map(({ name }) => name);

const ask = (fixture: ChannelFixture, run: string): Promise<Response> =>
  fixture.daemon.request("/api/channel-events", {
    method: "POST",
    body: { type: "human_approval_request", run_id: run, step_id: "go", channels: ["provider_a"] },
  });

test("another workspace has other procedures; the run of the old one goes on as it began", async () => {
  await using fixture = await startGovernedFixture();
  writeProcedure(fixture.home, "old", procedure());
  const { id } = await fixture.json<{ id: string }>("sop", "run", "old");
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length > 0,
  );
  const other = join(fixture.home, "other");
  mkdirSync(other);
  writeProcedure(other, "new", procedure());
  renameSync(join(other, "workspace"), join(fixture.home, "elsewhere"));
  fixture.config(`[workspace]\npath = "elsewhere"\n`);
  expect(await fixture.svc("reload")).toMatchObject({ code: EXIT.ok });
  expect(await names(fixture)).toEqual(["new"]);
  expect(await fixture.svc("sop", "run", "old")).toMatchObject({ stderr: expect.stringContaining("SOP_UNKNOWN") });
  await fixture.svc("approvals", "approve", id);
  const show = (): Promise<{ status: string }> => fixture.json("sop", "show", id);
  expect(await eventually(show, ({ status }) => status === "completed")).toMatchObject({ status: "completed" });
  expect((await fixture.svc("sop", "run", "new")).code).toBe(EXIT.ok);
});

test("limits and modes count from the reload on, for what comes then", async () => {
  await using fixture = await startGovernedFixture();
  writeProcedure(fixture.home, "one", procedure());
  await ask(fixture, "before");
  fixture.config(
    `[approvals]\nexpire_secs = 3600\n[sop]\nmax_concurrent_total = 1\ndefault_execution_mode = "step_by_step"\n`,
  );
  await fixture.svc("reload");
  await ask(fixture, "after");
  const { approvals } = await fixture.json<{ approvals: { created_at: string; expires_at: string }[] }>(
    "approvals",
    "list",
  );
  const hours = approvals.map(
    ({ created_at: from, expires_at: to }) => (Date.parse(to) - Date.parse(from)) / 3_600_000,
  );
  expect(hours).toEqual([1, 24]);
  expect((await fixture.json<Sops>("sop", "list")).sops).toMatchObject([{ execution_mode: "step_by_step" }]);
  expect((await fixture.svc("sop", "run", "one")).code).toBe(EXIT.ok);
  expect(await fixture.svc("sop", "run", "one")).toMatchObject({
    stderr: expect.stringContaining("max_concurrent_total"),
  });
});

test("a channel that goes while its question waits: it is answered elsewhere, and the chat hears of it when it is back", async () => {
  await using fixture = await startGovernedFixture();
  expect(await (await ask(fixture, "build-17")).json()).toMatchObject({ skipped: [] });
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length === 1,
  );
  writeFileSync(join(fixture.home, "config.toml"), "", { mode: 0o600 });
  expect(await fixture.svc("reload")).toMatchObject({ code: EXIT.ok });
  expect(await (await ask(fixture, "build-18")).json()).toMatchObject({ skipped: ["provider_a"] });
  expect(await fixture.json("approvals", "approve", "build-17")).toMatchObject({ status: "approved" });
  expect(fixture.platform.sent).toHaveLength(1);
  fixture.config("");
  await fixture.svc("reload");
  const told = await eventually(
    () => fixture.platform.sent,
    ({ length }) => length > 1,
  );
  expect(told.map(({ text }) => text)).toEqual([
    expect.stringContaining("Approval needed (#1)"),
    expect.stringContaining("approved by an operator at the command line"),
  ]);
});

test("who is an approver after the reload may answer what was asked before it", async () => {
  await using fixture = await startGovernedFixture();
  fixture.config("", 'notification_target = "+15551234567"');
  await fixture.svc("reload");
  await ask(fixture, "build-17");
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length === 1,
  );
  expect(fixture.platform.sent[0]!.text).not.toContain('write "approve"');
  fixture.config("");
  await fixture.svc("reload");
  await fixture.write({ text: "approve" });
  const left = (): Promise<{ approvals: object[] }> => fixture.json("approvals", "list");
  expect(await eventually(left, ({ approvals }) => approvals.length === 0)).toEqual({ approvals: [] });
});
