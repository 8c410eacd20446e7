// With the real binary, its agent and its sandbox: a kill -9 in the middle of a step after which a command runs a second time,
// or after which the run is lost.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { startGovernedFixture, writeProcedure } from "./governed-fixture.ts";

interface RunPage {
  readonly id: string;
  readonly status: string;
  readonly step: number;
  readonly steps: readonly {
    readonly status: string;
    readonly output: unknown;
    readonly approval: { readonly step_id: string } | null;
  }[];
}

const RESTART = `[sop]
description = "Restarts what hangs."
execution_mode = "deterministic"

[[triggers]]
type = "manual"

[[steps]]
title = "Restart"
tool = "shell"
args = { command = "echo began >> began.txt; sleep 60; echo ended >> ended.txt" }
requires_confirmation = true

[[steps]]
title = "Note it"
tool = "file_write"
args = { path = "note.txt", content = "$.host" }
requires_confirmation = true
`;

test("a command that a kill cut off is not run again: a person looks, and the run goes on", async () => {
  await using fixture = await startGovernedFixture();
  writeProcedure(fixture.home, "restart", { toml: RESTART, md: "Restarts.\n" });
  await fixture.svc("reload");
  const { id } = await fixture.json<RunPage>("sop", "run", "restart", "--payload", '{"host":"web-1"}');
  const show = (): Promise<RunPage> => fixture.json("sop", "show", id);
  const until = (status: string): Promise<RunPage> => eventually(show, (run) => run.status === status);
  const inWorkspace = (name: string): string => join(fixture.home, "workspace", name);

  expect(await until("waiting_approval")).toMatchObject({ step: 1 });
  expect((await fixture.svc("approvals", "approve", id)).code).toBe(0);
  await eventually(
    () => existsSync(inWorkspace("began.txt")),
    (isThere) => isThere,
  );
  await fixture.daemon.kill9();
  fixture.daemon = await startBinary({ home: fixture.home });

  const waiting = await until("waiting_approval");
  expect(waiting.step).toBe(1);
  expect(waiting.steps[0]).toMatchObject({ status: "waiting_approval", approval: { step_id: "step-1-interrupted" } });
  expect((await fixture.svc("approvals", "approve", id)).code).toBe(0);
  // The next step's own gate; its input is gone with the command, so it fails instead of acting on something else.
  await eventually(show, ({ step, status }) => step === 2 && status === "waiting_approval");
  expect((await fixture.svc("approvals", "approve", id)).code).toBe(0);
  expect(await until("failed")).toMatchObject({ step: 2, error: "SOP_STEP_FAILED" });
  expect(readFileSync(inWorkspace("began.txt"), "utf8")).toBe("began\n");
  expect([existsSync(inWorkspace("ended.txt")), existsSync(inWorkspace("note.txt"))]).toEqual([false, false]);
  const { entries } = await fixture.json<{ entries: { kind: string }[] }>("audit", "list");
  expect(entries.map(({ kind }) => kind).toReversed()).toEqual([
    "sop-run-start",
    "approval-request",
    "approval-answer",
    "approval-request",
    "approval-answer",
    "sop-step-end",
    "approval-request",
    "approval-answer",
    "sop-step-end",
    "sop-run-end",
  ]);
  expect(await fixture.json("audit", "verify")).toMatchObject({ ok: true });
});

test("a run that is cancelled while its command runs ends the command", async () => {
  await using fixture = await startGovernedFixture();
  const mark = basename(fixture.home);
  writeProcedure(fixture.home, "restart", {
    toml: RESTART.replace("sleep 60", `: ${mark}; sleep 600`),
    md: "Restarts.\n",
  });
  await fixture.svc("reload");
  const { id } = await fixture.json<RunPage>("sop", "run", "restart");
  const show = (): Promise<RunPage> => fixture.json("sop", "show", id);
  await eventually(show, ({ status }) => status === "waiting_approval");
  await fixture.svc("approvals", "approve", id);
  const began = join(fixture.home, "workspace", "began.txt");
  await eventually(
    () => existsSync(began),
    (isThere) => isThere,
  );
  const running = (): string[] => processesOf(`: ${mark};`);
  expect(running()).not.toEqual([]);
  expect((await fixture.svc("sop", "cancel", id, "--yes")).code).toBe(0);
  expect(await show()).toMatchObject({ status: "cancelled" });
  expect(await eventually(running, ({ length }) => length === 0)).toEqual([]);
  expect(existsSync(join(fixture.home, "workspace", "ended.txt"))).toBe(false);
  expect(await fixture.json("audit", "verify")).toMatchObject({ ok: true });
});

/** Ids of processes with these words in their command. */
const processesOf = (words: string): string[] =>
  readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(words);
    } catch {
      return false;
    }
  });
