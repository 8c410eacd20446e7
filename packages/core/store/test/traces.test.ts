// What a message is part of is kept with it: lost or mixed up, the trace of one person's message would end in another's.
import { expect, test } from "vitest";
import { crash, home, store, storeForEachTest } from "./each-test.ts";
import { arrive, delivery, keptOf, message } from "./fixture.ts";

storeForEachTest();

const trace = (digit: string): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;

function within<T>(traceparent: string, work: () => T): T {
  home.traceparent = traceparent;
  try {
    return work();
  } finally {
    home.traceparent = undefined;
  }
}

const run = (id: string): Parameters<typeof store.sopRuns.add>[0] => ({
  id,
  sop: "tidy",
  definition: {},
  mode: "auto",
  source: "manual",
  topic: "tidy",
  payload: null,
  startedBy: "a test",
  startedByAgent: undefined,
  startedAtMs: 1,
  fence: "fence",
});

test("each that writes in one transaction leaves its own, over a kill; whoever is not traced leaves none", async () => {
  const added = await Promise.all([
    within(trace("1"), () => arrive(store, home.clock, message("one"), message("one"))),
    arrive(store, home.clock, message("two")),
    within(trace("3"), () => store.write(() => store.outbox.add([delivery("room")], 1))),
    store.write(() => store.outbox.add([delivery("room")], 1)),
    within(trace("5"), () => store.write(() => store.sopRuns.add(run("r-5")))),
    store.write(() => store.sopRuns.add(run("r-6"))),
  ]);
  expect(added[2]).toMatchObject([{ n: 1, traceparent: trace("3") }]);
  expect(added[3]![0]).not.toHaveProperty("traceparent");
  expect(added[4].traceparent).toBe(trace("5"));
  crash();
  expect([1, 2, 3].map((n) => store.inbox.read(n)!.traceparent)).toEqual([trace("1"), trace("1"), undefined]);
  expect([1, 2].map((n) => store.outbox.read(n)!.traceparent)).toEqual([trace("3"), undefined]);
  expect(["r-5", "r-6"].map((id) => store.sopRuns.read(id)!.traceparent)).toEqual([trace("5"), undefined]);
  expect(store.inbox.read(3)).not.toHaveProperty("traceparent");
});

test("who is written again, alone, because a neighbour failed, is still himself", async () => {
  const [kept, failed, also] = await Promise.allSettled([
    within(trace("1"), () => arrive(store, home.clock, message("one"))),
    within(trace("2"), () =>
      store.write(() => {
        throw new Error("a bad neighbour");
      }),
    ),
    within(trace("3"), () => arrive(store, home.clock, message("three"))),
  ]);
  expect([kept.status, failed.status, also.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect([1, 2].map((n) => store.inbox.read(n)!.traceparent)).toEqual([trace("1"), trace("3")]);
});

test("a wait is told once: further attempts go on with it, a replay begins another", async () => {
  const arrived = await within(trace("1"), () => arrive(store, home.clock, message("room")));
  const { n } = keptOf(arrived)[0]!;
  await store.write(() => store.inbox.begin(n, trace("a")));
  await store.write(() => store.inbox.failed(n, "MODEL_UNREACHABLE"));
  await store.write(() => store.inbox.begin(n));
  crash();
  expect(store.inbox.read(n)).toMatchObject({ traceparent: trace("1"), waitTraceparent: trace("a"), attempts: 2 });
  await store.write(() => store.inbox.end(n, "failed", "TURN_FAILED"));
  expect(store.inbox.read(n)).not.toHaveProperty("waitTraceparent");
  await store.write(() => store.inbox.reopen(n));
  expect(store.inbox.read(n)).toMatchObject({ state: "waiting", traceparent: trace("1") });
  expect(store.inbox.read(n)).not.toHaveProperty("waitTraceparent");
});

test("one that the process died of again and again is still known by its wait", async () => {
  await within(trace("1"), () => arrive(store, home.clock, message("room")));
  await store.write(() => store.inbox.begin(1, trace("a")));
  for (let kills = 0; kills < 4; kills += 1) {
    crash();
    await store.write(() => store.inbox.begin(1));
  }
  crash();
  expect(store.inbox.lost()).toMatchObject([{ n: 1, traceparent: trace("1"), waitTraceparent: trace("a") }]);
});
