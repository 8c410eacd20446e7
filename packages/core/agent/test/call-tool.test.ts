// A call between its verdict and its end: what a reload counts, what an abort leaves, what the log may say.
import { defineTool, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { callTool, type CallRequest, type ToolEnvironment } from "../src/index.ts";
import { act, client, agentFixture, type AgentFixtureOptions, read } from "./agent-fixture.ts";

const environmentOf = (options: AgentFixtureOptions): ToolEnvironment =>
  agentFixture({}).set(options).profiles.get("default")!.environment;

const request = (more: Partial<CallRequest> = {}): CallRequest => ({
  turnId: "t",
  callId: "c",
  clientId: client,
  name: "act",
  input: "{}",
  signal: new AbortController().signal,
  ...more,
});

describe("a call", () => {
  test("is counted as running from its verdict on, without a gap in which a reload could find nothing running", async () => {
    const steps: string[] = [];
    const environment = environmentOf({});
    const { judge } = environment.policy;
    const watched: ToolEnvironment = {
      ...environment,
      policy: {
        ...environment.policy,
        judge: (...all) => {
          queueMicrotask(() => steps.push("anybody else"));
          steps.push("verdict");
          return judge(...all);
        },
      },
      track: (work) => (steps.push("running"), work()),
    };
    await callTool(watched, request());
    expect(steps).toEqual(["verdict", "running", "anybody else"]);
  });

  test.each([
    ["of a command line is judged when it is known what confines commands", true, ["known", "verdict"]],
    ["of another tool does not wait for that", false, ["verdict", "known"]],
  ])("%s", async (_, isCommand, expected) => {
    const steps: string[] = [];
    const tool = defineTool({ ...act, ...(isCommand && { commandLine: () => "true" }) });
    const environment = environmentOf({ tools: [tool] });
    const known = Promise.withResolvers<void>();
    const watched: ToolEnvironment = {
      ...environment,
      sandboxKnown: known.promise,
      policy: { ...environment.policy, judge: () => (steps.push("verdict"), { verdict: "allow" }) },
    };
    const called = callTool(watched, request());
    if (!isCommand) await called;
    steps.push("known");
    known.resolve();
    expect(await called).toMatchObject({ ok: true });
    expect(steps).toEqual(expected);
  });

  test("that waits for a person is not counted as running", async () => {
    let isRunning = false;
    const environment = environmentOf({ verdict: "ask" });
    const watched: ToolEnvironment = { ...environment, track: (work) => ((isRunning = true), work()) };
    const asked: boolean[] = [];
    const ask = async () => (asked.push(isRunning), { approved: true });
    expect(await callTool(watched, request({ ask }))).toMatchObject({ ok: true, acted: true, output: "done" });
    expect([asked, isRunning]).toEqual([[false], true]);
  });

  test.each([
    ["runs unasked where it is listed", { verdict: "allow", isListedLine: true }, true],
    ["has the ordinary environment where every line may run", { verdict: "allow" }, false],
    ["has the ordinary environment where a person approved it", { verdict: "ask", reason: "It acts." }, false],
  ] as const)("of a command line %s", async (_, verdict, unasked) => {
    const seen: unknown[] = [];
    const run = defineTool({
      ...act,
      run: async (_input, { exec }) => {
        await exec({ command: "true", unasked: !unasked });
        return "done";
      },
    });
    const environment = environmentOf({ tools: [run] });
    const watched: ToolEnvironment = {
      ...environment,
      policy: { ...environment.policy, judge: () => verdict },
      exec: (command) => {
        seen.push(command.unasked);
        return Promise.reject(new SvcError("TOOL_FAILED"));
      },
    };
    await callTool(watched, request({ ask: async () => ({ approved: true }) }));
    expect(seen).toEqual([unasked]);
  });

  test("is not asked about when it was called off before", async () => {
    const left = AbortSignal.abort(new SvcError("TURN_CANCELLED"));
    let isAsked = false;
    const ask = async () => ((isAsked = true), { approved: true });
    const outcome = callTool(environmentOf({ verdict: "ask" }), request({ ask, signal: left }));
    await expect(outcome).rejects.toMatchObject({ code: "TURN_CANCELLED" });
    expect(isAsked).toBe(false);
  });

  test("that was called off while its start was written did not run, and the journal says so", async () => {
    const environment = environmentOf({ tools: [{ ...act, run: async () => ((ran = true), "done") }] });
    let ran = false;
    const leave = new AbortController();
    const onStarted = () => leave.abort(new SvcError("TURN_CANCELLED"));
    const outcome = callTool(environment, request({ signal: leave.signal, onStarted }));
    await expect(outcome).rejects.toMatchObject({ code: "TURN_CANCELLED" });
    expect([ran, environment.store.toolCalls.statesOf("t")]).toEqual([
      false,
      [{ callId: "c", tool: "act", state: "interrupted" }],
    ]);
  });

  test("that fails in a way nobody foresaw is told without details, and logged where the call was judged", async () => {
    const boom = defineTool({ ...read, name: "act", run: () => Promise.reject(new Error("detail")) });
    const { set, log } = agentFixture({});
    const { environment } = set({ tools: [boom] }).profiles.get("default")!;
    const outcome = await callTool(() => environment, request());
    expect(outcome).toEqual({
      ok: false,
      acted: false,
      journalled: true,
      output: "TOOL_FAILED: act failed unexpectedly.",
    });
    expect(log.text()).toContain("a tool failed unexpectedly");
  });
});
