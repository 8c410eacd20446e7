// A procedure must be no way around the policy: what an agent has to ask for, its steps have to ask for, once for each call, and
// nobody must be asked for a run that is over.
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { expect, test } from "vitest";
import { eventually } from "./channel-house.ts";
import {
  type ApprovalLine,
  manual,
  messagesOf,
  type ProceduresHouse,
  startProcedures,
  steps,
} from "./procedures-house.ts";

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

async function asked(house: ProceduresHouse): Promise<ApprovalLine> {
  const [question] = await eventually(
    () => house.approvals("waiting"),
    ({ length }) => length === 1,
  );
  return question!;
}

const answer = (house: ProceduresHouse, { run_id: runId, step_id: stepId }: ApprovalLine, yes: boolean) =>
  house.answer(runId, stepId, yes, yes ? undefined : "once is enough");

test("no mode lifts a tool's question; a gate that was opened allows each of its step's tools once", async () => {
  await using house = await startProcedures({ script: writes });
  await house.write({
    auto: { toml: manual('execution_mode = "auto"'), md: step(1) },
    gated: { toml: manual('execution_mode = "supervised"'), md: step(2) },
  });
  const auto = await house.run("auto");
  const question = await asked(house);
  expect(question).toMatchObject({ origin: "tool", title: "May the agent run file_write?" });
  await house.delivered();
  await house.killed();
  await house.begin();
  expect([(await asked(house)).n, house.file("acts.txt")]).toEqual([question.n, ""]);
  await answer(house, question, true);
  await house.becomes(auto, "completed");
  expect(house.file("acts.txt")).toBe("1\n");
  await house.delivered();
  expect(house.chat.platform.sent.filter(({ replies }) => replies.length > 0)).toHaveLength(1);

  const gated = await house.run("gated");
  await house.becomes(gated, "waiting_approval");
  await answer(house, await asked(house), true);
  const second = await asked(house);
  expect([second.origin, house.file("acts.txt")]).toEqual(["tool", "1\n1\n"]);
  await answer(house, second, false);
  expect((await house.becomes(gated, "completed")).steps[0]!.output).toContain("once is enough");
  expect(house.file("acts.txt")).toBe("1\n1\n");

  // Its run is cancelled: also where nobody is at it any more who could call the question off.
  const running = await house.run("auto");
  const open = await asked(house);
  await house.api(`/api/sop-runs/${running}/cancel`, {});
  expect(await answer(house, open, true)).toMatchObject({ status: 409 });
  const left = await house.run("auto");
  const stray = await asked(house);
  await house.killed();
  expect((await house.chat.svc("sop", "cancel", left, "--yes")).code).toBe(0);
  await house.begin();
  expect(await house.approvals("waiting")).toEqual([]);
  expect((await house.approvals()).find(({ n }) => n === stray.n)).toMatchObject({ status: "cancelled" });
  expect([(await house.show(left)).status, house.file("acts.txt")]).toEqual(["cancelled", "1\n1\n"]);
});
