// Marks on disk that do not go with their transaction: a trigger would be fired twice, or never.
import { SvcError } from "@svc/contract";
import { openStore } from "@svc/store";
import { fakeClock } from "@svc/testkit/fake-clock";
import { expect, test } from "vitest";
import { cronMarks } from "../src/triggers/cron-marks.ts";

test("marks are kept and rolled back with the transaction they are in", async () => {
  const store = openStore({ file: ":memory:", clock: fakeClock(), idempotency: { ttlMs: 1000, maxKeys: 10 } });
  const marks = cronMarks(store);
  await marks.write(() => marks.noteIn("a UTC * * * * *", { atMs: 5, fired: true }));
  await expect(
    marks.write(() => {
      marks.noteIn("a UTC * * * * *", { atMs: 9, fired: false });
      throw new SvcError("TURN_FAILED");
    }),
  ).rejects.toMatchObject({ code: "TURN_FAILED" });
  expect(marks.read("a UTC * * * * *")).toEqual({ atMs: 5, fired: true });
  expect(marks.keys()).toEqual(["a UTC * * * * *"]);
  await marks.write(() => marks.noteIn("a UTC * * * * *", undefined));
  expect(marks.read("a UTC * * * * *")).toBeUndefined();
  await store.state.set("sop-cron", "x", "nonsense");
  expect(marks.read("x")).toBeUndefined();
  store.close();
});
