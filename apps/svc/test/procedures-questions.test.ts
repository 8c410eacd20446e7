// A procedure must be no way around the policy: what an agent has to ask for, its steps have to ask for, once for each call, and
// nobody must be asked for a run that is over.
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import {
  type ApprovalLine,
  manual,
  messagesOf,
  type ProceduresFixture,
  startProcedures,
  steps,
} from "./procedures-fixture.ts";

/** Writes a line at each call, as many as the step says. */
function writes(request: ModelRequest): ModelStep {
  const messages = messagesOf(request);
  const at = messages.findLastIndex(({ role }) => role === "user");
  const results = messages.slice(at + 1).filter(({ role }) => role === "tool");
  const times = Number(/Write (\d) times\./.exec(String(messages[at]!.content))?.[1] ?? 0);
  if (results.length === times) return { text: `It came to ${String(results.at(-1)?.content)}` };
  return {
    calls: [{ name: "file_write", input: { path: "acts.txt", content: `${results.length + 1}\n`, mode: "append" } }],
  };
}

const step = (times: number): string => steps(`Write ${times} times.\n   - tools: file_write`);

async function asked(fixture: ProceduresFixture): Promise<ApprovalLine> {
  const [question] = await eventually(
    () => fixture.approvals("waiting"),
    ({ length }) => length === 1,
  );
  return question!;
}

const answer = (fixture: ProceduresFixture, { run_id: runId, step_id: stepId }: ApprovalLine, yes: boolean) =>
  fixture.answer(runId, stepId, yes, yes ? undefined : "once is enough");

test("no mode lifts a tool's question; a gate that was opened allows each of its step's tools once", async () => {
  await using fixture = await startProcedures({ script: writes });
  await fixture.write({
    auto: { toml: manual('execution_mode = "auto"'), md: step(1) },
    gated: { toml: manual('execution_mode = "supervised"'), md: step(2) },
  });
  const auto = await fixture.run("auto");
  const question = await asked(fixture);
  expect(question).toMatchObject({ origin: "tool", title: "May the agent run file_write?" });
  await fixture.delivered();
  await fixture.killed();
  await fixture.begin();
  expect([(await asked(fixture)).n, fixture.file("acts.txt")]).toEqual([question.n, ""]);
  await answer(fixture, question, true);
  await fixture.becomes(auto, "completed");
  expect(fixture.file("acts.txt")).toBe("1\n");
  await fixture.delivered();
  expect(fixture.chat.platform.sent.filter(({ replies }) => replies.length > 0)).toHaveLength(1);

  const gated = await fixture.run("gated");
  await fixture.becomes(gated, "waiting_approval");
  await answer(fixture, await asked(fixture), true);
  const second = await asked(fixture);
  expect([second.origin, fixture.file("acts.txt")]).toEqual(["tool", "1\n1\n"]);
  await answer(fixture, second, false);
  expect((await fixture.becomes(gated, "completed")).steps[0]!.output).toContain("once is enough");
  expect(fixture.file("acts.txt")).toBe("1\n1\n");

  // Its run is cancelled: also where nobody is at it any more who could call the question off.
  const running = await fixture.run("auto");
  const open = await asked(fixture);
  await fixture.api(`/api/sop-runs/${running}/cancel`, {});
  expect(await answer(fixture, open, true)).toMatchObject({ status: 409 });
  const left = await fixture.run("auto");
  const stray = await asked(fixture);
  await fixture.killed();
  expect((await fixture.chat.svc("sop", "cancel", left, "--yes")).code).toBe(0);
  await fixture.begin();
  expect(await fixture.approvals("waiting")).toEqual([]);
  expect((await fixture.approvals()).find(({ n }) => n === stray.n)).toMatchObject({ status: "cancelled" });
  expect([(await fixture.show(left)).status, fixture.file("acts.txt")]).toEqual(["cancelled", "1\n1\n"]);
});
