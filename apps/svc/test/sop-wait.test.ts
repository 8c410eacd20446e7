// svc sop run --wait: whoever waits at the terminal must be told what the run waits for, gate or tool call, by the command that
// lets it go on, and must have the exit code of its end.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "@svc/contract";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { expect, test } from "vitest";
import { type ChannelFixture, eventually } from "./channel-fixture.ts";
import { localModel } from "./daemon.ts";
import { startGovernedFixture, writeProcedure } from "./governed-fixture.ts";

const NOTE = {
  toml: `[sop]
description = "Writes a note."
execution_mode = "auto"

[[triggers]]
type = "manual"
`,
  md: `# Note

## Steps

1. **Write** — Write the note.
   - tools: file_write

2. **Check** — Is it well written?
   - kind: checkpoint
`,
};

const writesNote = ({ body }: ModelRequest): ModelStep =>
  (body["messages"] as { role: string }[]).at(-1)?.role === "tool"
    ? { text: "written" }
    : { calls: [{ name: "file_write", input: { path: "note.txt", content: "a note" } }] };

const waiting = async (fixture: ChannelFixture): Promise<number[]> =>
  (await fixture.json<{ approvals: { n: number }[] }>("approvals", "list")).approvals.map(({ n }) => n);

test.for([
  ["approve", EXIT.ok, "completed"],
  ["reject", EXIT.failure, "cancelled"],
] as const)("a tool call and a checkpoint are told; the last answer is %s", async ([last, code, end]) => {
  await using model = await fakeModelServer({ script: writesNote });
  await using fixture = await startGovernedFixture(localModel(model));
  writeProcedure(fixture.home, "note", NOTE);
  const run = fixture.svc("sop", "run", "note", "--wait");
  for (const [n, answer] of [
    [1, "approve"],
    [2, last],
  ] as const) {
    expect(
      await eventually(
        () => waiting(fixture),
        (numbers) => numbers.includes(n),
      ),
    ).toEqual([n]);
    await fixture.svc("approvals", answer, String(n));
  }
  const done = await run;
  expect(done.code).toBe(code);
  expect(done.stdout).toMatch(/step 1 {2}running\n.*May the agent run file_write\? {2}svc approvals approve 1\n/);
  expect(done.stdout).toMatch(/step 1 {2}completed\n.*Check.* {2}svc approvals approve 2\n/);
  expect(done.stdout).toContain(`note, ${end}`);
  expect(readFileSync(join(fixture.home, "workspace/note.txt"), "utf8")).toBe("a note");
});
