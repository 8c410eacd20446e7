// A command in the sandbox that nobody sees, or that is told to have gone well.
import { defineTool, type ExecResult, SvcError } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { recordedInstruments } from "@svc/testkit/observe/recorded-tracer";
import { describe, expect, test } from "vitest";
import * as v from "valibot";
import { createExec } from "../src/index.ts";
import { ask, call, agentFixture, scripted, text } from "./agent-fixture.ts";

describe("a command", () => {
  const END: ExecResult = { exitCode: 0, signal: null, stdout: "", stderr: "", truncated: false, timedOut: false };
  const ends: [string, Partial<ExecResult> | Error, object][] = [
    ["exits", { exitCode: 3 }, { outcome: "exited", exitCode: 3 }],
    ["is killed", { exitCode: null, signal: "SIGKILL" }, { outcome: "signalled", exitCode: undefined }],
    [
      "takes too long",
      { exitCode: null, signal: "SIGTERM", timedOut: true },
      { outcome: "timed-out", exitCode: undefined },
    ],
    ["does not begin", new SvcError("SANDBOX_UNAVAILABLE"), { outcome: "failed", exitCode: undefined }],
  ];
  test.each(ends)("that %s is part of the call that made it", async (_what, end, result) => {
    const watched = recordedInstruments(fakeClock());
    const exec = createExec({
      choice: {
        unenforced: [],
        backend: {
          id: "userns",
          probe: async () => ({ available: true, unenforced: [] }),
          open: async () => ({
            exec: async () => {
              if (end instanceof Error) throw end;
              return { ...END, ...end };
            },
            close: async () => {},
          }),
        },
      },
      config: { network: false, timeout_secs: 1 } as never,
      workspace: "/",
      hidden: [],
      tracer: watched.tracer,
    });
    const shell = defineTool({
      name: "shell",
      description: "runs",
      input: v.object({}),
      approval: "auto",
      run: async (_, context) => (await context.exec({ command: "true" })).exitCode,
    });
    const model = scripted([call("shell")], [text("so")]);
    const { agent } = agentFixture({ model, tools: [shell], exec, tracer: watched.tracer });
    await ask(agent, "go");
    expect(watched.recorded.tree()).toEqual(["turn", "  model-call", "  tool-call", "    command", "  model-call"]);
    expect(watched.recorded.of("command")).toMatchObject([{ facts: { backend: "userns" }, result }]);
  });
});
