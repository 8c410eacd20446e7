// svc approvals, sop and audit without a daemon, on the database of the home alone: what is answered or ended there must be what
// the next start goes by, once, and whoever was asked in a chat must hear of it then.
import { join } from "node:path";
import { EXIT } from "@svc/contract";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { type ChannelHouse, eventually } from "./channel-house.ts";
import { startGovernedHouse, writeProcedure } from "./governed-house.ts";

const TOML = `[sop]
description = "Deploys what was built."
execution_mode = "supervised"

[[triggers]]
type = "manual"
`;

/** A run that waits at its first gate, was asked for in the chat, and a daemon that is gone. */
async function waitingRun(house: ChannelHouse): Promise<string> {
  writeProcedure(house.home, "deploy", { toml: TOML });
  const { id } = await house.json<{ id: string }>("sop", "run", "deploy");
  await eventually(
    () => house.platform.sent,
    ({ length }) => length > 0,
  );
  await house.daemon.stop();
  return id;
}

const startAgain = async (house: ChannelHouse): Promise<void> => {
  house.daemon = await startBinary({ home: house.home });
};

const statusOf = async (house: ChannelHouse, id: string): Promise<string> =>
  (await house.json<{ status: string }>("sop", "show", id)).status;

test("a yes without a daemon lets the run go on at the next start, and the chat is told once", async () => {
  await using house = await startGovernedHouse();
  const id = await waitingRun(house);
  const before = house.platform.sent.length;
  const list = await house.svc("approvals", "list");
  expect(list.stdout).toContain("svc approvals approve 1");
  const said = await house.svc("approvals", "approve", "1", "--feedback", "go");
  expect(said).toMatchObject({ code: EXIT.ok, stdout: expect.stringContaining("#1 is approved") });
  expect(await house.svc("approvals", "reject", "1")).toMatchObject({
    stderr: expect.stringContaining("APPROVAL_RESOLVED"),
  });
  expect(await statusOf(house, id)).toBe("running");
  expect(house.platform.sent).toHaveLength(before);
  await startAgain(house);
  expect(
    await eventually(
      () => statusOf(house, id),
      (status) => status === "completed",
    ),
  ).toBe("completed");
  const told = await eventually(
    () => house.platform.sent.slice(before).map(({ text }) => text),
    ({ length }) => length > 0,
  );
  expect(told).toEqual([expect.stringContaining("approved by an operator at the command line")]);
  expect(await house.json("audit", "verify")).toMatchObject({ ok: true });
});

test("a no without a daemon cancels the run there and then", async () => {
  await using house = await startGovernedHouse();
  const id = await waitingRun(house);
  await house.svc("approvals", "reject", id);
  expect(await statusOf(house, id)).toBe("cancelled");
  await startAgain(house);
  await eventually(
    () => house.platform.sent,
    ({ length }) => length > 1,
  );
  expect(await statusOf(house, id)).toBe("cancelled");
  expect(house.platform.sent.at(-1)!.text).toContain("rejected by an operator at the command line");
});

test("a run that is cancelled without a daemon asks for nothing any more", async () => {
  await using house = await startGovernedHouse();
  const id = await waitingRun(house);
  expect(await house.json("sop", "runs", "--status", "waiting_approval")).toMatchObject({ runs: [{ id }] });
  expect(await house.svc("sop", "cancel", id)).toMatchObject({ code: EXIT.ok, stdout: `${id} is cancelled\n` });
  expect(await house.json("approvals", "list")).toEqual({ approvals: [] });
  expect(await house.svc("sop", "cancel", id)).toMatchObject({ stderr: expect.stringContaining("SOP_RUN_ENDED") });
  await startAgain(house);
  expect(await statusOf(house, id)).toBe("cancelled");
  expect(await house.json("audit", "verify")).toMatchObject({ ok: true });
});

test("procedures are listed, shown and judged without a daemon; only a run needs one", async () => {
  await using house = await startGovernedHouse();
  await house.daemon.stop();
  writeProcedure(house.home, "deploy", { toml: TOML });
  writeProcedure(house.home, "broken", { toml: "[sop]\npriority = 3\n" });
  expect(await house.json("sop", "list")).toMatchObject({ sops: [{ name: "deploy" }], broken: [{ name: "broken" }] });
  expect((await house.svc("sop", "show", "deploy")).stdout).toContain("1. Look");
  expect(await house.svc("sop", "validate", "deploy")).toMatchObject({ code: EXIT.ok });
  expect(await house.svc("sop", "validate")).toMatchObject({ code: EXIT.data });
  const run = await house.svc("sop", "run", "deploy");
  expect(run).toMatchObject({ code: EXIT.unavailable, stderr: expect.stringContaining("svc daemon") });
});

test("the number of one question is never taken for the run of another", async () => {
  await using house = await startGovernedHouse();
  const ask = (run: string): Promise<Response> =>
    house.daemon.request("/api/channel-events", {
      method: "POST",
      body: { type: "human_approval_request", run_id: run, step_id: "release" },
    });
  await ask("2");
  await ask("build-17");
  const unclear = await house.svc("approvals", "approve", "2");
  expect(unclear).toMatchObject({ code: EXIT.usage, stderr: expect.stringContaining("'#<number>'") });
  expect(await house.json("approvals", "approve", "#2")).toMatchObject({ run_id: "build-17" });
  expect(await house.json("approvals", "approve", "2", "release")).toMatchObject({ run_id: "2" });
});

test("a line of the audit log that was changed on disk is found without a daemon", async () => {
  await using house = await startGovernedHouse();
  await waitingRun(house);
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(join(house.home, "state/svc.db"));
  db.exec("UPDATE audit SET data = replace(data, 'deploy', 'delete') WHERE n = 1");
  db.close();
  const { code, stderr } = await house.svc("audit", "verify");
  expect(code).toBe(EXIT.data);
  expect(stderr).toContain("AUDIT_BROKEN");
});
