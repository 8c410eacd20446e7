// A run that two are at, or that nobody is at any more because it was called while somebody was about to leave it.
import { fakeClock, settled } from "@svc/testkit/fake-clock";
import { expect, test } from "vitest";
import { Drivers } from "../../src/runs/sops.ts";

function drivers() {
  const clock = fakeClock();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const cancelled: string[] = [];
  const made = new Drivers({
    clock,
    drive: ({ runId, signal }) => {
      begun.push(runId);
      return new Promise((resolve) => {
        ends.push(resolve);
        signal.addEventListener("abort", () => resolve());
      });
    },
    afterCancel: async (runId) => void cancelled.push(runId),
  });
  return { made, clock, begun, ends, cancelled };
}

test("each run has one driver, who looks again when something changed meanwhile", async () => {
  const { made, begun, ends } = drivers();
  made.start();
  for (const id of ["a", "a", "b", "a"]) made.wake(id);
  expect(begun).toEqual(["a", "b"]);
  for (const end of ends.splice(0)) end();
  await settled();
  expect(begun).toEqual(["a", "b", "a"]);
  for (const end of ends.splice(0)) end();
  await settled();
  made.wake("b");
  expect(begun).toEqual(["a", "b", "a", "b"]);
});

test("nothing begins before the start, nor after the stop", async () => {
  const { made, begun } = drivers();
  made.wake("a");
  made.start();
  made.wake("b");
  const stopped = made.stop(0);
  made.wake("c");
  expect(begun).toEqual(["b"]);
  void stopped;
});

test("stop waits for those who are at something, then calls them off, and tidies nothing away", async () => {
  const { made, clock, cancelled } = drivers();
  made.start();
  made.wake("a");
  let isOver = false;
  const stopped = made.stop(10_000).then(() => (isOver = true));
  await clock.advance(9_999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await stopped;
  expect([isOver, cancelled, clock.waiting]).toEqual([true, [], 0]);
});

test("one whose run was cancelled is called off, and tidied up after", async () => {
  const { made, cancelled } = drivers();
  made.start();
  made.wake("a");
  made.wake("b");
  made.cancel("a", "why");
  made.cancel("none", "why");
  await settled();
  expect(cancelled).toEqual(["a"]);
});
