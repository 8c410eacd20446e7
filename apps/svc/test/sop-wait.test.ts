// svc sop run --wait: whoever waits at the terminal must be told what the run waits for, gate or tool call, by the command that
// lets it go on, and must have the exit code of its end.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "@svc/contract";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { expect, test } from "vitest";
import { type ChannelHouse, eventually } from "./channel-house.ts";
import { localModel } from "./daemon.ts";
import { startGovernedHouse, writeProcedure } from "./governed-house.ts";

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

const waiting = async (house: ChannelHouse): Promise<number[]> =>
  (await house.json<{ approvals: { n: number }[] }>("approvals", "list")).approvals.map(({ n }) => n);

test.for([
  ["approve", EXIT.ok, "completed"],
  ["reject", EXIT.failure, "cancelled"],
] as const)("a tool call and a checkpoint are told; the last answer is %s", async ([last, code, end]) => {
  await using model = await fakeModelServer({ script: writesNote });
  await using house = await startGovernedHouse(localModel(model));
  writeProcedure(house.home, "note", NOTE);
  const run = house.svc("sop", "run", "note", "--wait");
  for (const [n, answer] of [
    [1, "approve"],
    [2, last],
  ] as const) {
    expect(
      await eventually(
        () => waiting(house),
        (numbers) => numbers.includes(n),
      ),
    ).toEqual([n]);
    await house.svc("approvals", answer, String(n));
  }
  const done = await run;
  expect(done.code).toBe(code);
  expect(done.stdout).toMatch(/step 1 {2}running\n.*May the agent run file_write\? {2}svc approvals approve 1\n/);
  expect(done.stdout).toMatch(/step 1 {2}completed\n.*Check.* {2}svc approvals approve 2\n/);
  expect(done.stdout).toContain(`note, ${end}`);
  expect(readFileSync(join(house.home, "workspace/note.txt"), "utf8")).toBe("a note");
});
