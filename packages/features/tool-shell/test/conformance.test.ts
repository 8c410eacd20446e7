// `shell` keeps what every tool keeps, shows the policy exactly the line that runs, and says what was cut or ended.
import type { ExecRequest } from "@svc/contract";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import * as v from "valibot";
import { expect, test } from "vitest";
import definition from "../src/index.ts";
import { shell } from "../src/shell.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..` });

toolConformance(shell, {
  input: { command: "echo hello" },
  badInputs: [
    {},
    { command: "" },
    { command: "  " },
    { command: ["echo"] },
    { command: "x", timeout_secs: 0 },
    { command: "x", cwd: "" },
  ],
});

test("what is judged is what is run, where it is run", async () => {
  const seen: ExecRequest[] = [];
  const context = fakeToolContext({
    exec: (request) => (seen.push(request), { stdout: "out", stderr: "err", exitCode: 2 }),
  });
  const input = v.parse(shell.input, { command: " ls -la\n", cwd: "sub", timeout_secs: 7 });
  expect(await shell.run(input, context)).toEqual({ exit_code: 2, stdout: "out", stderr: "err" });
  expect(seen).toEqual([expect.objectContaining({ command: " ls -la\n", cwd: "sub", timeoutMs: 7000 })]);
  expect([shell.commandLine?.(input), shell.commandFolder?.(input)]).toEqual([seen[0]?.command, seen[0]?.cwd]);
  expect(shell.approval).toBe("ask");
});

test.each([
  [{ timedOut: true, signal: "SIGKILL", exitCode: null }, [expect.stringContaining("time limit")]],
  [{ signal: "SIGSEGV", exitCode: null }, [expect.stringContaining("SIGSEGV")]],
  [{ limit: "memoryMb", signal: "SIGKILL", exitCode: null } as const, [expect.stringContaining("memory_mb")]],
  [{ limit: "pids", exitCode: 1 } as const, [expect.stringContaining("pids")]],
  [{ limit: "cpuSecs", exitCode: 152 } as const, [expect.stringContaining("cpu_secs")]],
  [{ truncated: true }, [expect.stringContaining("cut")]],
])("%j is said", async (result, notes) => {
  const context = fakeToolContext({ exec: () => result });
  expect(await shell.run(v.parse(shell.input, { command: "x" }), context)).toMatchObject({ notes });
});
