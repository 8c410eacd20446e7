// A backup holds runs as they were then. Restored, they must not do again what they have done since: no gate is asked, no step done
// and no schedule made up for a second time, unless the whole service moves and nothing has happened since.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { EXIT } from "@svc/contract";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { expect, test } from "vitest";
import { type ChannelFixture, eventually } from "./channel-fixture.ts";
import { startGovernedFixture, writeProcedure } from "./governed-fixture.ts";

const TOML = `[sop]
description = "Deploys what was built."
execution_mode = "supervised"

[[triggers]]
type = "manual"

[[triggers]]
type = "cron"
expression = "0 0 1 1 *"
`;

/** A backup of the moment at which a run waits for its gate. */
async function backUpWaiting(fixture: ChannelFixture): Promise<{ id: string; file: string }> {
  writeProcedure(fixture.home, "deploy", { toml: TOML });
  const { id } = await fixture.json<{ id: string }>("sop", "run", "deploy");
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length === 1,
  );
  const file = join(fixture.home, "b.tar.gz");
  expect(await fixture.svc("backup", file)).toMatchObject({ code: EXIT.ok });
  return { id, file };
}

const statusOf = async (fixture: ChannelFixture, id: string): Promise<string> =>
  (await fixture.json<{ status: string }>("sop", "show", id)).status;

test("a run that has ended since is cancelled, its question is over, and the chat hears of it", async () => {
  await using fixture = await startGovernedFixture();
  const { id, file } = await backUpWaiting(fixture);
  await fixture.svc("approvals", "approve", id);
  expect(
    await eventually(
      () => statusOf(fixture, id),
      (status) => status === "completed",
    ),
  ).toBe("completed");
  const restored = await fixture.json("restore", file, "--yes");
  expect(restored).toMatchObject({ set_aside: { runs: 1 } });
  expect(await fixture.json("sop", "show", id)).toMatchObject({
    status: "cancelled",
    reason: expect.stringContaining("a restore"),
    steps: [{ output: null }, { output: null }],
  });
  expect(await fixture.json("approvals", "list")).toEqual({ approvals: [] });
  expect(await fixture.json("audit", "verify")).toMatchObject({ ok: true });
  const last = await eventually(
    () => fixture.platform.sent.at(-1)!.text,
    (text) => text.includes("a restore"),
  );
  expect(last).toContain("called off");
});

test("with what waits: it waits on, and is asked for no second time", async () => {
  await using fixture = await startGovernedFixture();
  const { id, file } = await backUpWaiting(fixture);
  expect(await fixture.json("restore", file, "--yes", "--with-waiting")).toMatchObject({ set_aside: { runs: 0 } });
  expect(await statusOf(fixture, id)).toBe("waiting_approval");
  await fixture.svc("approvals", "approve", id);
  expect(
    await eventually(
      () => statusOf(fixture, id),
      (status) => status === "completed",
    ),
  ).toBe("completed");
  expect(fixture.platform.sent.filter(({ text }) => text.includes("Approval needed"))).toHaveLength(1);
});

test("schedules count from the restore on", async () => {
  await using fixture = await startGovernedFixture();
  const { file } = await backUpWaiting(fixture);
  const marks = async (name: string, ...words: string[]): Promise<number> => {
    const home = join(fixture.home, name);
    mkdirSync(home, { mode: 0o700 });
    await runBinary(["restore", file, "--yes", ...words], { home });
    using db = new DatabaseSync(join(home, "state/svc.db"));
    return Number(db.prepare("SELECT count(*) AS n FROM state WHERE owner = 'sop-cron'").get()!["n"]);
  };
  expect(await marks("moved", "--with-waiting")).toBe(1);
  expect(await marks("restored")).toBe(0);
});
