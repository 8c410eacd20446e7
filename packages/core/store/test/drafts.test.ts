// The beginning of an answer that a platform has already: forgotten, the answer would be there twice.
import { expect, test } from "vitest";
import { crash, home, reopen, store, storeForEachTest } from "./each-test.ts";
import { arrive, delivery, message } from "./fixture.ts";

storeForEachTest();

test("is known over restarts and failed attempts, until its message is over", async () => {
  await arrive(store, home.clock, message("room"), message("room"));
  await store.write(() => store.inbox.drafted(1, "p-1"));
  await store.write(() => store.inbox.failed(1, "MODEL_UNREACHABLE"));
  reopen();
  expect(store.inbox.list({}, 10).map(({ draft }) => draft)).toEqual([undefined, "p-1"]);
  await store.write(() => store.inbox.end(1, "failed", "TURN_FAILED"));
  expect(store.inbox.read(1)).not.toHaveProperty("draft");
  // Answered anew, it begins anew: what was said of it is on the platform.
  await store.write(() => store.inbox.reopen(1));
  expect(store.inbox.read(1)).not.toHaveProperty("draft");
});

test("is known of a message that the process died of, so that its sender is told in its place", async () => {
  await arrive(store, home.clock, message("room"), message("room"));
  await store.write(() => store.inbox.drafted(1, "p-1"));
  for (let deaths = 0; deaths < 5; deaths += 1) {
    await store.write(() => [1, 2].forEach((n) => store.inbox.begin(n)));
    crash();
  }
  expect(store.inbox.lost().map(({ n, draft }) => [n, draft])).toEqual([
    [1, "p-1"],
    [2, undefined],
  ]);
});

test("stands with the delivery that takes its place, and with no other", async () => {
  await store.write(() => store.outbox.add([delivery("room", { draft: "p-1" }), delivery("room")], 0));
  reopen();
  expect([1, 2].map((n) => store.outbox.read(n)!.draft)).toEqual(["p-1", undefined]);
});

test("that nobody waits for any more is not kept", async () => {
  await arrive(store, home.clock, message("room"));
  await store.write(() => store.inbox.end(1, "dropped"));
  await store.write(() => store.inbox.drafted(1, "p-1"));
  expect(store.inbox.read(1)).not.toHaveProperty("draft");
});
