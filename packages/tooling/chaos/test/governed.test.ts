// A judge who finds nothing wrong whatever happened would make every kill look harmless.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { ACTS, PLAIN_ACTS } from "../src/governed/files.ts";
import type { Posted } from "../src/governed/fixture.ts";
import { judgeGoverned } from "../src/governed/judge.ts";
import type { StoredState } from "../src/governed/stored.ts";
import type { Trigger } from "../src/governed/triggers.ts";

const TRIGGERS: readonly Trigger[] = [
  { kind: "work", label: "work-0" },
  { kind: "gated", label: "gated-1" },
  { kind: "plain", label: "plain-2" },
  { kind: "ask", label: "ask-3" },
];

const gate = (n: number, runId: string, stepId: string) => {
  return { n, runId, stepId, origin: "sop", status: "approved", via: "api", questions: 1 };
};

const call = (turnId: string, line: string, state = "finished") => ({ turnId, line, state });

const line = (kind: string, runId: string, stepId = "") => ({ kind, runId, stepId, count: 1 });

/** As it should be: one of each kind, one of them ended by a no, one call of which nobody knows. */
const RIGHT: StoredState = {
  runs: [
    { id: "r-0", label: "work-0", sop: "work", status: "completed" },
    { id: "r-1", label: "gated-1", sop: "gated", status: "cancelled" },
    { id: "r-2", label: "plain-2", sop: "plain", status: "completed" },
  ],
  approvals: [
    gate(1, "r-1", "step-1"),
    { ...gate(2, "r-1", "step-2"), status: "rejected", via: "chat" },
    gate(3, "r-2", "step-2"),
    { ...gate(4, "ask-3", "release"), origin: "external" },
  ],
  calls: [
    call("sop-r-0-1", "work-0/1"),
    call("sop-r-0-2", "work-0/2", "interrupted"),
    call("sop-r-1-1", "gated-1/1"),
    call("sop-r-2-1", "plain-2/1"),
    call("sop-r-2-2", "again"),
  ],
  audit: [
    ...["r-0", "r-1", "r-2"].flatMap((id) => [line("sop-run-start", id), line("sop-run-end", id)]),
    ...["r-1 step-1", "r-1 step-2", "r-2 step-2", "ask-3 release"].flatMap((key) => {
      const [runId = "", stepId] = key.split(" ");
      return [line("approval-request", runId, stepId), line("approval-answer", runId, stepId)];
    }),
  ],
  leftOver: { steps: 0 },
  integrity: ["ok"],
};

const POSTED: readonly Posted[] = [1, 2, 3, 4].map((approval) => ({ approval, life: 1, isLast: approval === 4 }));
const LINES = "work-0/1\ngated-1/1\nplain-2/1\n";

interface Wrong {
  readonly stored?: Partial<StoredState>;
  readonly posted?: readonly Posted[];
  readonly acknowledged?: ReadonlyMap<number, boolean>;
  readonly acts?: string;
  readonly again?: string;
}

function problemsOf({
  stored,
  posted = POSTED,
  acknowledged,
  acts = LINES,
  again = "again\n",
}: Wrong): readonly string[] {
  using home = temporaryHome();
  for (const [name, text] of [
    [ACTS, acts],
    [PLAIN_ACTS, again],
  ] as const) {
    const file = join(home.path, "workspace", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const people = { acknowledged: new Map(acknowledged ?? [[1, true]]) };
  return judgeGoverned({ ...RIGHT, ...stored }, TRIGGERS, { home: home.path, posted, people }).problems;
}

test("what held is judged so, and what can't be known better is excused", () => {
  expect(problemsOf({})).toEqual([]);
  expect(problemsOf({ acts: `${LINES}work-0/2\n` })).toEqual([]);
  expect(problemsOf({ posted: [...POSTED, { approval: 4, life: 2, isLast: true }] })).toEqual([]);
});

const without = <Row>(rows: readonly Row[], index: number): Row[] => rows.toSpliced(index, 1);
const twice = <Row>(rows: readonly Row[], index: number): Row[] => [...rows, rows[index]!];

const WRONGS: Readonly<Record<string, readonly [wrong: Wrong, told: RegExp]>> = {
  "a run is lost": [{ stored: { runs: without(RIGHT.runs, 0) } }, /work-0 was kept and is there 0 times/],
  "a run is begun twice": [{ stored: { runs: twice(RIGHT.runs, 0) } }, /work-0 was kept and is there 2 times/],
  "a run does not end": [
    { stored: { runs: [{ ...RIGHT.runs[0]!, status: null }, ...RIGHT.runs.slice(1)] } },
    /work-0 is not ended/,
  ],
  "a no is passed over": [
    { stored: { runs: RIGHT.runs.map((run) => ({ ...run, status: "completed" })) } },
    /gated-1 is completed/,
  ],
  "an end is written twice": [
    { stored: { audit: RIGHT.audit.map((one) => ({ ...one, count: 2 })) } },
    /has 2 of "sop-run-end r-0 "/,
  ],
  "an answer is not written": [{ stored: { audit: without(RIGHT.audit, 7) } }, /has 0 of "approval-answer r-1 step-1"/],
  "a gate waits for ever": [
    { stored: { approvals: [{ ...RIGHT.approvals[0]!, status: "waiting" }, ...RIGHT.approvals.slice(1)] } },
    /#1 is waiting/,
  ],
  "another answer counts than was said": [
    { acknowledged: new Map([[1, false]]) },
    /#1: an answer that was acknowledged is lost/,
  ],
  "an answer that came later counts": [
    { acknowledged: new Map([[2, false]]) },
    /#2: an answer that was acknowledged is lost/,
  ],
  "a question is asked by nobody": [
    { stored: { approvals: RIGHT.approvals.map((one) => ({ ...one, questions: 0 })) } },
    /#1 was put into the outbox 0 times/,
  ],
  "a question is posted again for nothing": [
    { posted: [...POSTED, { approval: 1, life: 2, isLast: true }] },
    /#1 was posted 2 times/,
  ],
  "a call acts twice": [{ acts: `${LINES}work-0/1\n` }, /step 1 of work-0 acted 2 times/],
  "a call is made anew": [{ stored: { calls: twice(RIGHT.calls, 0) } }, /step 1 of work-0 called 2 times/],
  "a call is only said to be made": [{ acts: "" }, /step 1 of work-0 is noted as done and was not/],
  "a step is left out": [{ stored: { calls: without(RIGHT.calls, 1) } }, /step 2 of work-0 was not done/],
  "a step acts after a no": [{ acts: `${LINES}gated-1/2\n` }, /step 2 of gated-1 acted and nobody noted it/],
  "the last of the plain steps acts twice": [{ again: "again\nagain\n" }, /has 2 lines of 1/],
  "something stays behind": [{ stored: { leftOver: { steps: 2 } } }, /2 rows are left in steps/],
  "the file is damaged": [{ stored: { integrity: ["row 1 missing"] } }, /integrity_check: row 1 missing/],
};

test.each(Object.entries(WRONGS))("%s: it is told", (_name, [wrong, told]) => {
  expect(problemsOf(wrong)).toEqual(expect.arrayContaining([expect.stringMatching(told)]));
});
