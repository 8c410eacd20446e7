// A stranger's text that becomes a command or an action nobody agreed to; an acting call that is made a second time.
import { SvcError } from "@svc/contract";
import { afterEach, describe, expect, test } from "vitest";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { calling, type Fixture, fixture, type FixtureOptions, quiet, sop, step } from "./fixture.ts";

let made: Fixture;
let opened: Fixture | undefined;
const open = (options: FixtureOptions): Fixture => (made = opened = fixture(options));
afterEach(() => {
  opened?.[Symbol.dispose]();
  opened = undefined;
});

const chain = (...steps: ReturnType<typeof step>[]) => [sop("a", { mode: "deterministic", steps })];

test("each step's output is the next one's input, as the JSON values they are, and no model is asked", async () => {
  const answers = [{ items: [{ id: 7 }] }, "done"];
  open({
    sops: chain(
      calling(1, { whole: "$", part: "$.who.name", text: "a $.who.name b", literal: "$$.who" }),
      calling(2, { n: "$.items[0].id" }),
    ),
    call: () => answers.shift()!,
  });
  const id = await made.start("a", '{"who":{"name":"$(rm -rf /)"}}');
  await quiet();
  expect(made.calls.map(({ input }) => input)).toEqual([
    { whole: { who: { name: "$(rm -rf /)" } }, part: "$(rm -rf /)", text: "a $.who.name b", literal: "$.who" },
    { n: 7 },
  ]);
  expect(made.turns).toEqual([]);
  expect(made.run(id).status).toBe("completed");
  expect(made.sops.readRun(id).steps.map(({ output }) => output)).toEqual([{ items: [{ id: 7 }] }, "done"]);
});

test("a value that is not there fails the run, and so does a tool that fails", async () => {
  open({
    sops: [...chain(calling(1, { x: "$.none" })), sop("b", { mode: "deterministic", steps: [calling(1)] })],
    call: () => Promise.reject(new Error("it broke")),
  });
  const [missing, broken] = [await made.start("a", "{}"), await made.start("b")];
  await quiet();
  expect(made.run(missing)).toMatchObject({ status: "failed", error: "SOP_STEP_FAILED" });
  expect(made.run(broken)).toMatchObject({
    status: "failed",
    error: "SOP_STEP_FAILED",
    reason: "Step 1: Error: it broke",
  });
  expect(made.calls).toHaveLength(1);
});

describe("what comes from outside", () => {
  const withTool = (tool: string, more: { trustedInput?: boolean; args?: object } = {}) => ({
    call: { tool, args: { x: "$.a", ...more.args }, trustedInput: more.trustedInput ?? false },
  });

  test("goes into a tool that acts only with a yes or trusted_input, and into one that reads freely", async () => {
    open({
      sops: chain(step(1, withTool("read")), step(2, { ...withTool("act"), requiresConfirmation: true })),
      call: () => ({ a: 1 }),
    });
    const id = await made.start("a", '{"a":1}');
    await quiet();
    expect(made.run(id)).toMatchObject({ status: "waiting_approval", step: 2 });
    // Who says yes sees what is called with what.
    expect(made.approvals.list({ runId: id }, 1).approvals[0]!.message).toContain('"x": 1');
    await made.answerAll();
    await quiet();
    expect(made.run(id).status).toBe("completed");
    expect(made.calls.map(({ tool, granted }) => [tool, granted])).toEqual([
      ["read", false],
      ["act", true],
    ]);
  });

  test("is judged again with the values that are there, when the step comes", async () => {
    // At the start the tool was not there, and nothing could be said of it.
    let isThere = false;
    open({
      sops: chain(step(1, withTool("late"))),
      acts: () => {
        if (!isThere) throw new SvcError("TOOL_UNKNOWN");
        return true;
      },
    });
    const id = await made.start("a", '{"a":1}');
    isThere = true;
    await quiet();
    expect(made.run(id)).toMatchObject({ status: "failed", error: "SOP_STEP_FAILED" });
    expect(made.run(id).reason).toContain("requires_confirmation or trusted_input");
    expect(made.calls).toEqual([]);
  });

  test("never goes into a command, whoever is trusted", async () => {
    const trusted = {
      ...withTool("act", { trustedInput: true, args: { command: "$.a" } }),
      requiresConfirmation: true,
    };
    open({ sops: chain(step(1, trusted)) });
    const { skipped } = await made.sops.dispatch({ source: "webhook", topic: "/a", payload: '{"a":1}' }, { by: "x" });
    expect(skipped).toEqual([{ sop: "a", reason: "unsafe_arguments" }]);
  });

  test("whatever it is stays a value: no text of a payload ever stands inside another text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        using home = fixture({ sops: chain(calling(1, { v: "$.v", fixed: "run $.v now" })) });
        await home.start("a", JSON.stringify({ v: value }));
        await quiet();
        expect(home.calls[0]!.input).toEqual({ v: JSON.parse(JSON.stringify(value)), fixed: "run $.v now" });
      }),
      { numRuns: cases(20) },
    );
  });
});
