// A kill -9 after which a run ends twice or never, asks the same gate twice, or lets a tool act a second time.
import { afterEach, describe, expect, test } from "vitest";
import { calling, type Fixture, fixture, type FixtureOptions, quiet, sop, step } from "./fixture.ts";
import { type Kill, killsOf } from "./kills.ts";

const SOPS = [
  sop("auto"),
  sop("supervised", { mode: "supervised", steps: [step(1), step(2, { kind: "checkpoint" }), step(3)] }),
  sop("each", { mode: "step_by_step" }),
  sop("calls", {
    mode: "deterministic",
    steps: [calling(1, { x: "$" }), calling(2, { y: "$" }, { requiresConfirmation: true }), calling(3, { z: "$" })],
  }),
  sop("fails", { steps: [step(1), step(2, { title: "Fail" })] }),
];
const NAMES = SOPS.map(({ name }) => name);

let open: Fixture[] = [];
let removals: (() => void)[] = [];
afterEach(() => {
  for (const made of open) made[Symbol.dispose]();
  for (const remove of removals) remove();
  [open, removals] = [[], []];
});

interface Life {
  readonly made: Fixture;
  readonly kills: Kill[];
  /** `run:step` of each acting call that was made. */
  readonly acts: string[];
}

/** One life of the service. What it was killed at is remembered, if asked for. */
function live({ remembers, ...options }: Partial<FixtureOptions> & { readonly remembers?: boolean } = {}): Life {
  const acts: string[] = [];
  const remembered = killsOf(acts);
  removals.push(remembered.remove);
  const made: Fixture = fixture({
    sops: SOPS,
    wrap: remembers ? remembered.wrap(() => made.folder) : (store) => store,
    turn: ({ text, turnId }) => {
      if (text.includes("Fail")) throw new Error("it can't be done");
      return `did ${turnId.slice(-1)}`;
    },
    call: ({ turnId, input }) => {
      acts.push(turnId);
      return { of: input };
    },
    ...options,
  });
  open.push(made);
  return { made, kills: remembered.kills, acts };
}

/** A person says yes to whatever is asked, until nothing is left to do. */
async function toTheEnd(made: Fixture): Promise<void> {
  await quiet();
  while ((await made.answerAll()) > 0) await quiet();
}

/** Of all lives together: what the disk says, and what tools did. */
async function checkAll(made: Fixture, acts: readonly string[], began: number): Promise<void> {
  const { runs } = made.sops.runs({}, 100);
  expect(runs).toHaveLength(began);
  const lines = made.store.audit.list(1_000).map(({ kind, data }) => ({ kind, ...(data as object) }) as AuditLine);
  for (const run of runs) {
    expect([run.sop, run.status]).toEqual([run.sop, run.sop === "fails" ? "failed" : "completed"]);
    const of = (kind: string) => lines.filter((line) => line.kind === kind && line.run_id === run.id);
    expect(of("sop-run-start")).toHaveLength(1);
    expect(of("sop-run-end")).toHaveLength(1);
    const asked = of("approval-request").map(({ step_id: id }) => id);
    expect(new Set(asked).size).toBe(asked.length);
    expect(asked.filter((id) => !id!.endsWith("-interrupted")).toSorted()).toEqual(GATES[run.sop]!);
    expect(of("approval-answer")).toHaveLength(asked.length);
    expect(of("sop-step-end").map(({ step }) => step)).toEqual([
      ...new Set(of("sop-step-end").map(({ step }) => step)),
    ]);
    const steps = made.sops.readRun(run.id).steps;
    expect(steps.every(({ status, endedAtMs }) => status !== "running" && endedAtMs !== undefined)).toBe(true);
    // A call that was never made, and of which nobody was asked, would be one that was lost.
    const calls = run.sop === "calls" ? steps.map(({ step: number }) => number) : [];
    for (const number of calls) {
      const times = acts.filter((turnId) => turnId === `sop-${run.id}-${number}`).length;
      expect(asked.includes(`step-${number}-interrupted`) ? [0, 1] : [1]).toContain(times);
    }
  }
  expect(made.store.sopRuns.active()).toEqual([]);
  expect(await made.sops.audit.verify()).toEqual({ entries: lines.length, brokenAt: undefined });
}

interface AuditLine {
  readonly kind: string;
  readonly run_id?: string;
  readonly step_id?: string;
  readonly step?: number;
}

const GATES: Readonly<Record<string, readonly string[]>> = {
  auto: [],
  supervised: ["step-1", "step-2"],
  each: ["step-1", "step-2"],
  calls: ["step-2"],
  fails: [],
};

describe("a kill", () => {
  test.each(NAMES)("at any commit of a run of %s", async (name) => {
    const first = live({ remembers: true });
    await first.made.start(name, '{"a":1}');
    await toTheEnd(first.made);
    await checkAll(first.made, first.acts, 1);
    first.kills.at(-1)!.acts = [...first.acts];
    expect(first.kills.length).toBeGreaterThan(3);
    for (const { folder, acts } of first.kills) {
      const second = live({ folder });
      await toTheEnd(second.made);
      await checkAll(second.made, [...acts, ...second.acts], 1);
    }
  });

  test("at any commit while all of them run at once, and again in the life after", async () => {
    const first = live({ remembers: true });
    await Promise.all(NAMES.map((name) => first.made.start(name, "1")));
    await toTheEnd(first.made);
    first.kills.at(-1)!.acts = [...first.acts];
    expect(first.kills.length).toBeGreaterThan(15);
    for (const { folder, acts } of first.kills) {
      const began = countRuns(folder);
      const second = live({ folder, remembers: true });
      await toTheEnd(second.made);
      const middle = second.kills[Math.floor(second.kills.length / 2)];
      // The last kill of the first life leaves nothing to do.
      const third = middle ? live({ folder: middle.folder }) : second;
      await toTheEnd(third.made);
      await checkAll(third.made, [...acts, ...(middle?.acts ?? []), ...third.acts], began);
    }
  });

  test("while a call that acts runs leaves it to a person, whose yes goes on and whose no ends the run", async () => {
    for (const [approved, status, calls] of [
      [true, "completed", 3],
      [false, "cancelled", 1],
    ] as const) {
      const first = live({ remembers: true });
      const id = await first.made.start("calls", "1");
      await quiet();
      // The commit at which the call was on disk, and nothing of its result.
      const during = first.kills.find(({ acts }) => acts.length === 1)!;
      const second = live({ folder: during.folder });
      await quiet();
      expect(second.made.run(id)).toMatchObject({ status: "waiting_approval", step: 1 });
      const [asked] = second.made.approvals.list({ status: "waiting" }, 10).approvals;
      expect(asked).toMatchObject({ stepId: "step-1-interrupted", origin: "sop" });
      expect(second.acts).toEqual([]);
      await second.made.answerAll(approved, "looked");
      await toTheEnd(second.made);
      expect(second.made.run(id).status).toBe(status);
      expect(new Set([...during.acts, ...second.acts]).size).toBe(calls);
    }
  });

  test("after a call's result is on disk uses it, and asks nobody", async () => {
    const first = live({ remembers: true });
    const id = await first.made.start("calls", "1");
    await toTheEnd(first.made);
    let times = 0;
    for (const { folder } of first.kills) {
      const second = live({ folder, idle: true });
      const { status, step: at } = second.made.run(id);
      const call = second.made.store.toolCalls.of(`sop-${id}-${at}`)[0];
      if (status !== "running" || call?.state !== "finished") continue;
      times += 1;
      second.made.sops.start();
      await quiet();
      expect(second.made.sops.readRun(id).steps[at - 1]).toMatchObject({ status: "completed", output: call.output });
      expect(second.acts).not.toContain(`sop-${id}-${at}`);
    }
    expect(times).toBe(3);
  });

  test("while a call that only reads runs makes it again", async () => {
    const sops = [
      sop("reads", {
        mode: "deterministic",
        steps: [step(1, { call: { tool: "read", args: {}, trustedInput: false } })],
      }),
    ];
    const first = live({ sops, remembers: true });
    const id = await first.made.start("reads");
    await quiet();
    const during = first.kills.find(({ acts }) => acts.length === 1)!;
    const second = live({ sops, folder: during.folder });
    await quiet();
    expect(second.made.run(id).status).toBe("completed");
    expect(second.acts).toHaveLength(1);
  });

  test("between the end of a turn and the run's next step ends the step with what the turn said", async () => {
    // As a worker would leave it that keeps turns in a transaction of its own.
    const { made } = live({ keepsAlone: true });
    const id = await made.start("auto");
    await quiet();
    expect(made.run(id).status).toBe("completed");
    expect(made.sops.readRun(id).steps.map(({ output }) => output)).toEqual(["did 1", "did 2"]);
  });

  test("leaves a turn that was given up to be tidied away by the next start", async () => {
    const first = live();
    const id = await first.made.start("each");
    await quiet();
    const turnId = `sop-${id}-1`;
    await first.made.sops.cancel(id, "somebody");
    await first.made.store.write(() =>
      first.made.store.steps.add(turnId, { message: {}, inputTokens: 0, outputTokens: 0 }),
    );
    const { folder } = first.made;
    await first.made.sops.stop(0);
    const second = live({ folder });
    await quiet();
    expect(second.made.abandoned).toEqual([turnId]);
    expect(second.made.store.sopRuns.strayTurns()).toEqual([]);
  });
});

function countRuns(folder: string): number {
  const made = fixture({ sops: SOPS, folder, idle: true });
  const { length } = made.sops.runs({}, 100).runs;
  made[Symbol.dispose]();
  return length;
}
