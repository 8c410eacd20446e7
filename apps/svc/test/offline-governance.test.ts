// svc approvals, sop and audit without a daemon, on the database of the home alone: what is answered or ended there must be what
// the next start goes by, once, and whoever was asked in a chat must hear of it then.
import { join } from "node:path";
import { EXIT } from "@svc/contract";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { type ChannelFixture, eventually } from "./channel-fixture.ts";
import { startGovernedFixture, writeProcedure } from "./governed-fixture.ts";

const TOML = `[sop]
description = "Deploys what was built."
execution_mode = "supervised"

[[triggers]]
type = "manual"
`;

/** A run that waits at its first gate, was asked for in the chat, and a daemon that is gone. */
async function waitingRun(fixture: ChannelFixture): Promise<string> {
  writeProcedure(fixture.home, "deploy", { toml: TOML });
  const { id } = await fixture.json<{ id: string }>("sop", "run", "deploy");
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length > 0,
  );
  await fixture.daemon.stop();
  return id;
}

const startAgain = async (fixture: ChannelFixture): Promise<void> => {
  fixture.daemon = await startBinary({ home: fixture.home });
};

const statusOf = async (fixture: ChannelFixture, id: string): Promise<string> =>
  (await fixture.json<{ status: string }>("sop", "show", id)).status;

test("a yes without a daemon lets the run go on at the next start, and the chat is told once", async () => {
  await using fixture = await startGovernedFixture();
  const id = await waitingRun(fixture);
  const before = fixture.platform.sent.length;
  const list = await fixture.svc("approvals", "list");
  expect(list.stdout).toContain("svc approvals approve 1");
  const said = await fixture.svc("approvals", "approve", "1", "--feedback", "go");
  expect(said).toMatchObject({ code: EXIT.ok, stdout: expect.stringContaining("#1 is approved") });
  expect(await fixture.svc("approvals", "reject", "1")).toMatchObject({
    stderr: expect.stringContaining("APPROVAL_RESOLVED"),
  });
  expect(await statusOf(fixture, id)).toBe("running");
  expect(fixture.platform.sent).toHaveLength(before);
  await startAgain(fixture);
  expect(
    await eventually(
      () => statusOf(fixture, id),
      (status) => status === "completed",
    ),
  ).toBe("completed");
  const told = await eventually(
    () => fixture.platform.sent.slice(before).map(({ text }) => text),
    ({ length }) => length > 0,
  );
  expect(told).toEqual([expect.stringContaining("approved by an operator at the command line")]);
  expect(await fixture.json("audit", "verify")).toMatchObject({ ok: true });
});

test("a no without a daemon cancels the run there and then", async () => {
  await using fixture = await startGovernedFixture();
  const id = await waitingRun(fixture);
  await fixture.svc("approvals", "reject", id);
  expect(await statusOf(fixture, id)).toBe("cancelled");
  await startAgain(fixture);
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length > 1,
  );
  expect(await statusOf(fixture, id)).toBe("cancelled");
  expect(fixture.platform.sent.at(-1)!.text).toContain("rejected by an operator at the command line");
});

test("a run that is cancelled without a daemon asks for nothing any more", async () => {
  await using fixture = await startGovernedFixture();
  const id = await waitingRun(fixture);
  expect(await fixture.json("sop", "runs", "--status", "waiting_approval")).toMatchObject({ runs: [{ id }] });
  expect(await fixture.svc("sop", "cancel", id)).toMatchObject({ code: EXIT.ok, stdout: `${id} is cancelled\n` });
  expect(await fixture.json("approvals", "list")).toEqual({ approvals: [] });
  expect(await fixture.svc("sop", "cancel", id)).toMatchObject({ stderr: expect.stringContaining("SOP_RUN_ENDED") });
  await startAgain(fixture);
  expect(await statusOf(fixture, id)).toBe("cancelled");
  expect(await fixture.json("audit", "verify")).toMatchObject({ ok: true });
});

test("procedures are listed, shown and judged without a daemon; only a run needs one", async () => {
  await using fixture = await startGovernedFixture();
  await fixture.daemon.stop();
  writeProcedure(fixture.home, "deploy", { toml: TOML });
  writeProcedure(fixture.home, "broken", { toml: "[sop]\npriority = 3\n" });
  expect(await fixture.json("sop", "list")).toMatchObject({ sops: [{ name: "deploy" }], broken: [{ name: "broken" }] });
  expect((await fixture.svc("sop", "show", "deploy")).stdout).toContain("1. Look");
  expect(await fixture.svc("sop", "validate", "deploy")).toMatchObject({ code: EXIT.ok });
  expect(await fixture.svc("sop", "validate")).toMatchObject({ code: EXIT.data });
  const run = await fixture.svc("sop", "run", "deploy");
  expect(run).toMatchObject({ code: EXIT.unavailable, stderr: expect.stringContaining("svc daemon") });
});

test("the number of one question is never taken for the run of another", async () => {
  await using fixture = await startGovernedFixture();
  const ask = (run: string): Promise<Response> =>
    fixture.daemon.request("/api/channel-events", {
      method: "POST",
      body: { type: "human_approval_request", run_id: run, step_id: "release" },
    });
  await ask("2");
  await ask("build-17");
  const unclear = await fixture.svc("approvals", "approve", "2");
  expect(unclear).toMatchObject({ code: EXIT.usage, stderr: expect.stringContaining("'#<number>'") });
  expect(await fixture.json("approvals", "approve", "#2")).toMatchObject({ run_id: "build-17" });
  expect(await fixture.json("approvals", "approve", "2", "release")).toMatchObject({ run_id: "2" });
});

test("a line of the audit log that was changed on disk is found without a daemon", async () => {
  await using fixture = await startGovernedFixture();
  await waitingRun(fixture);
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(join(fixture.home, "state/svc.db"));
  db.exec("UPDATE audit SET data = replace(data, 'deploy', 'delete') WHERE n = 1");
  db.close();
  const { code, stderr } = await fixture.svc("audit", "verify");
  expect(code).toBe(EXIT.data);
  expect(stderr).toContain("AUDIT_BROKEN");
});
