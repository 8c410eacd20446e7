// A disk that is full must not start half a procedure, take half an answer, or lose either.
import { spawnSync } from "node:child_process";
import { closeSync, cpSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type MissingPart, requireReal } from "@svc/testkit/require-real";
import { expect, test } from "vitest";
import { eventually } from "./channel-house.ts";
import { UNGUARDED } from "./daemon.ts";
import { manual, type ProceduresHouse, startProcedures, steps } from "./procedures-house.ts";

const NO_SMALL_DISK: MissingPart = {
  name: "a small disk",
  reason: "mounting a tmpfs needs Linux, and root",
  tier: "B",
};

interface SmallDisk extends Disposable {
  /** Takes all the room that is left. */
  fill(): void;
  empty(): void;
}

/** The state of the home lies on a disk of some megabytes from here on. The service must not run. Undefined: not here. */
function smallDisk(home: string): SmallDisk | undefined {
  const [state, aside, ballast] = ["state", "state-aside", "state/ballast"].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ];
  cpSync(state, aside, { recursive: true });
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", state]);
  if (status !== 0) return undefined;
  cpSync(aside, state, { recursive: true });
  return {
    fill() {
      const file = openSync(ballast, "w");
      for (const size of [65_536, 4096, 1]) writeUntilFull(file, Buffer.alloc(size));
      closeSync(file);
    },
    empty: () => rmSync(ballast),
    [Symbol.dispose]: () => void spawnSync("umount", ["--lazy", state]),
  };
}

function writeUntilFull(file: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(file, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  }
}

const NOTES = `[sop]
execution_mode = "deterministic"
max_concurrent = 1000

[[triggers]]
type = "webhook"
path = "/of/notes"

[[steps]]
title = "Note it"
tool = "file_write"
args = { path = "notes.txt", content = "$.line", mode = "append" }
trusted_input = true
`;

const CONFIG = `${UNGUARDED}
[sop]
max_concurrent_total = 1000
[gateway]
webhook_rate_limit_per_minute = 0
`;

interface Started {
  readonly runs: readonly { readonly run_id: string }[];
}

const runsOf = async (house: ProceduresHouse): Promise<readonly string[]> =>
  (await house.api<{ runs: { id: string }[] }>("/api/sop-runs?sop=notes&limit=200")).body.runs.map(({ id }) => id);

const linesOf = (house: ProceduresHouse): string[] => house.file("notes.txt").trim().split("\n").toSorted();

test("on a full disk a trigger is told 503 and starts nothing, an answer is not taken; with room again both are, once", async (context) => {
  if (process.getuid?.() !== 0) requireReal(context, NO_SMALL_DISK);
  await using house = await startProcedures({ config: CONFIG });
  await house.write({
    notes: { toml: NOTES, md: "" },
    gated: { toml: manual('execution_mode = "supervised"\nmax_concurrent = 5'), md: steps("Say so.") },
  });
  const gate = await house.run("gated");
  await house.becomes(gate, "waiting_approval");
  await house.delivered();
  await house.chat.daemon.stop();
  using disk = smallDisk(house.home);
  if (!disk) return requireReal(context, NO_SMALL_DISK);
  await house.begin();
  const told: string[] = [];
  const trigger = async (): Promise<number> => {
    const line = `line ${told.length}`;
    const { status, body } = await house.api<Started>("/of/notes", { line: `${line}\n`, padding: "x".repeat(20_000) });
    if (status === 202) told.push(...body.runs.map(() => line));
    return status;
  };
  expect(await trigger()).toBe(202);

  disk.fill();
  // What is left of the pages that the database has takes some more.
  const refused = await eventually(trigger, (status) => status !== 202);
  expect(refused).toBe(503);
  expect(await house.answer(gate, "step-1", true)).toMatchObject({ status: 503, body: { code: "STORE_FULL" } });
  const request = { type: "human_approval_request", run_id: "one", step_id: "two", content: { title: "Now?" } };
  expect((await house.api("/api/channel-events", request)).status).toBe(503);
  expect(await house.run("gated").catch(String)).toContain("STORE_FULL");
  expect((await house.chat.svc("approvals", "approve", gate)).stderr).toContain("STORE_FULL");
  expect((await house.show(gate)).status).toBe("waiting_approval");
  expect(await runsOf(house)).toHaveLength(told.length);
  await house.killed();
  await house.begin();
  expect([await trigger(), (await runsOf(house)).length]).toEqual([503, told.length]);

  disk.empty();
  expect(await eventually(trigger, (status) => status === 202)).toBe(202);
  expect((await house.answer(gate, "step-1", true)).status).toBe(200);
  await house.becomes(gate, "completed");
  // What was accepted before rests for some seconds after a refusal; a start takes it up at once.
  await house.chat.daemon.stop();
  await house.begin();
  const ended = await Promise.all(
    (await runsOf(house)).map((id) => house.becomes(id, "completed", "waiting_approval")),
  );
  expect(ended).toHaveLength(told.length);
  // A call whose end could not be noted is asked about, and not made again.
  expect(ended.filter(({ status }) => status === "waiting_approval").length).toBeLessThanOrEqual(1);
  expect(linesOf(house)).toEqual(told.toSorted());
  expect(await house.approvals("waiting")).toHaveLength(ended.filter(({ status }) => status !== "completed").length);
  expect(await house.chat.json("audit", "verify")).toMatchObject({ ok: true });
});
