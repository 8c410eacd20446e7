// A turn that is taken up again after a kill and does not find what it had done, or finds another's.
import type { ClientId } from "@svc/contract";
import { expect, test } from "vitest";
import { crash, store, storeForEachTest } from "./each-test.ts";

storeForEachTest();

const step = (text: string) => ({ message: { role: "assistant", text }, inputTokens: 3, outputTokens: 4 });

test("steps are there in their order after a kill, and go with the end of their turn", async () => {
  await store.write(() => {
    store.steps.add("t-1", step("one"));
    store.steps.add("t-2", step("other"));
    store.steps.add("t-1", step("two"));
  });
  crash();
  await store.write(() => store.steps.add("t-1", step("three")));
  expect(store.steps.of("t-1")).toEqual([step("one"), step("two"), step("three")]);
  await store.write(() => store.steps.drop("t-1"));
  expect([store.steps.of("t-1"), store.steps.of("t-2")]).toEqual([[], [step("other")]]);
});

test("a call that had started and did not finish is known to be interrupted; the results of the others are there", async () => {
  const call = (callId: string) => ({
    turnId: "t-1",
    callId,
    agent: "a",
    client: "c" as ClientId,
    tool: "x",
    acting: true,
    input: {},
  });
  await store.write(() => {
    for (const callId of ["1", "2", "3"]) store.toolCalls.start(call(callId));
    store.toolCalls.finish("t-1", "1", "finished", { ok: true });
    store.toolCalls.finish("t-1", "2", "failed", "no");
  });
  crash();
  expect(store.toolCalls.of("t-1").toSorted((one, other) => one.callId.localeCompare(other.callId))).toEqual([
    { callId: "1", tool: "x", acting: true, state: "finished", output: { ok: true } },
    { callId: "2", tool: "x", acting: true, state: "failed", output: "no" },
    { callId: "3", tool: "x", acting: true, state: "interrupted", output: null },
  ]);
});
