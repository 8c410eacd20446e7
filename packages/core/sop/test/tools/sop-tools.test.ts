// An agent that lets its own runs go on, starts one twice, or is told more than it can read.
import type { Json, Tool } from "@svc/contract";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import * as v from "valibot";
import { afterEach, expect, test } from "vitest";
import { SOP_TOOLS, sopTools } from "../../src/index.ts";
import { type Fixture, fixture, type FixtureOptions, quiet, sop, step, STARTER } from "../runs/fixture.ts";

let made: Fixture;
const open = (options: FixtureOptions): Fixture => (made = fixture(options));
afterEach(() => made[Symbol.dispose]());

interface Caller {
  readonly agent?: string;
  readonly turnId?: string;
  readonly callId?: string;
}

function call(
  name: string,
  input: object,
  { agent = "clerk", turnId = "t-1", callId = "c-1" }: Caller = {},
): Promise<Json> {
  const tool: Tool = tools().find((one) => one.name === name)!;
  const context = { ...fakeToolContext(), agent, turnId, callId };
  return tool.run(v.parse(tool.input, input), context);
}

const tools = () => sopTools({ sops: () => made.sops, approvals: () => made.approvals });

test("the tools are those that are named, and only reading ones need nobody", () => {
  open({ sops: [] });
  expect(tools().map(({ name }) => name)).toEqual(SOP_TOOLS);
  expect(tools().map(({ approval }) => approval)).toEqual(["auto", "auto", "ask", "ask"]);
});

test("a run is started, looked at, and left to people", async () => {
  open({ sops: [sop("deploy", { mode: "supervised" })] });
  expect(await call("sop_list", {})).toMatchObject({ procedures: [{ name: "deploy", manual: true, active_runs: 0 }] });
  const { run_id: id } = (await call("sop_run", { sop: "deploy", payload: '{"a":1}' })) as { run_id: string };
  await quiet();
  expect(made.run(id)).toMatchObject({ startedBy: "agent clerk", startedByAgent: "clerk", payload: '{"a":1}' });
  expect(await call("sop_status", { run_id: id })).toMatchObject({
    status: "waiting_approval",
    steps: [
      { step: 1, status: "waiting_approval" },
      { step: 2, status: "pending" },
    ],
  });
  await expect(call("sop_approve", { run_id: id, approved: true })).rejects.toMatchObject({ code: "TOOL_REFUSED" });
  await expect(call("sop_approve", { run_id: id, approved: false })).rejects.toMatchObject({ code: "TOOL_REFUSED" });
  expect(made.run(id).status).toBe("waiting_approval");
});

test("what somebody else started may be answered, once, and is noted as the agent's answer", async () => {
  open({ sops: [sop("deploy", { mode: "supervised" })] });
  const { id } = await made.sops.run("deploy", null, STARTER);
  await quiet();
  expect(await call("sop_approve", { run_id: id, approved: true, feedback: "told to" })).toMatchObject({
    approved: true,
  });
  expect(made.approvals.list({ runId: id }, 1).approvals[0]!.answer).toMatchObject({
    by: "agent clerk",
    via: "agent",
    feedback: "told to",
  });
  await quiet();
  await expect(call("sop_approve", { run_id: id, approved: true })).rejects.toMatchObject({ code: "APPROVAL_UNKNOWN" });
  await expect(call("sop_approve", { run_id: "r-none", approved: true })).rejects.toMatchObject({
    code: "SOP_RUN_UNKNOWN",
  });
});

test("a step of a run answers for no run: two that start each other would let each other go on", async () => {
  open({ sops: [sop("deploy", { mode: "supervised" })] });
  const { id } = await made.sops.run("deploy", null, STARTER);
  await quiet();
  for (const turnId of [`sop-${id}-1`, "sop-r-another-1"]) {
    await expect(call("sop_approve", { run_id: id, approved: true }, { turnId })).rejects.toMatchObject({
      code: "TOOL_REFUSED",
    });
  }
});

test("questions of outside workflows and of tool calls are not the agent's to answer", async () => {
  open({ sops: [sop("deploy")] });
  const { id } = await made.sops.run("deploy", null, STARTER);
  for (const origin of ["external", "tool"] as const) {
    await made.approvals.request({
      runId: id,
      stepId: origin,
      origin,
      title: "t",
      message: "m",
      askedBy: "x",
      conversations: [],
    });
  }
  await expect(call("sop_approve", { run_id: id, approved: true })).rejects.toMatchObject({ code: "APPROVAL_UNKNOWN" });
});

test("a call that is made again after a kill starts nothing more; another one does", async () => {
  open({ sops: [sop("deploy", { maxConcurrent: 5 })] });
  const ids = [];
  for (const callId of ["c-1", "c-1", "c-2"])
    ids.push(((await call("sop_run", { sop: "deploy" }, { callId })) as { run_id: string }).run_id);
  expect([ids[0] === ids[1], ids[0] === ids[2]]).toEqual([true, false]);
});

test("what is wrong is said: unknown procedures and runs, a payload that is no JSON", async () => {
  open({ sops: [] });
  await expect(call("sop_run", { sop: "none" })).rejects.toMatchObject({ code: "SOP_UNKNOWN" });
  await expect(call("sop_status", { sop: "none" })).rejects.toMatchObject({ code: "SOP_UNKNOWN" });
  await expect(call("sop_status", { run_id: "none" })).rejects.toMatchObject({ code: "SOP_RUN_UNKNOWN" });
  expect(() => call("sop_run", { sop: "a", payload: "{" })).toThrow(/JSON/);
});

test("results stay readable, however much there is", async () => {
  const steps = Array.from({ length: 40 }, (_, index) => step(index + 1, { title: "t".repeat(5_000) }));
  const description = "d".repeat(50_000);
  open({
    sops: [sop("big", { steps, description }), ...Array.from({ length: 300 }, (_, n) => sop(`s${n}`, { description }))],
    turn: () => "o".repeat(60_000),
  });
  const { id } = await made.sops.run("big", null, STARTER);
  for (let round = 0; round < 10; round += 1) await quiet();
  expect(made.run(id).status).toBe("completed");
  for (const [name, input] of [
    ["sop_list", {}],
    ["sop_status", {}],
    ["sop_status", { run_id: id }],
  ] as const) {
    expect(JSON.stringify(await call(name, input)).length).toBeLessThan(64 * 1024);
  }
  expect(await call("sop_list", {})).toMatchObject({ more: 201 });
});
