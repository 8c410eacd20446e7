// A message that a kill takes with it, half an answer that outlives its turn, an attempt that was retried and is told to a model.
import type { ClientId } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { crash, store, storeForEachTest } from "./each-test.ts";
import { session, speak, turn } from "./fixture.ts";

storeForEachTest();

const owner = "c" as ClientId;
const open = (turnId: string, more: object = {}) => ({
  turnId,
  owner,
  name: "a",
  sessionId: "s-1",
  agent: "default",
  at: 7,
  text: `text of ${turnId}`,
  meta: undefined,
  ...more,
});

describe("a turn that has not ended", () => {
  test("is there after a kill, in the order of the messages, with who wrote it and what was saved of its answer", async () => {
    const meta = { author: { kind: "device", id: "d", name: "desk" }, kind: "continue" } as const;
    await store.write(() => {
      store.openTurns.add(open("t-b", { meta }));
      store.openTurns.add(open("t-a"));
      store.openTurns.savePartial("t-b", { step: 0, text: "one" });
      store.openTurns.savePartial("t-b", { step: 1, text: "two" });
    });
    crash();
    expect(store.openTurns.all()).toEqual([
      { ...open("t-b", { meta }), partial: { step: 1, text: "two" } },
      { ...open("t-a"), partial: undefined },
    ]);
  });

  test("leaves nothing when it ends, nor does what is saved of its answer later", async () => {
    await store.write(() => {
      store.openTurns.add(open("t-a"));
      store.openTurns.savePartial("t-a", { step: 0, text: "one" });
    });
    await store.write(() => store.openTurns.remove("t-a"));
    await store.write(() => store.openTurns.savePartial("t-a", { step: 0, text: "late" }));
    await store.write(() => store.openTurns.add(open("t-a")));
    expect(store.openTurns.all()).toMatchObject([{ turnId: "t-a", partial: undefined }]);
  });
});

describe("a turn that did not end well", () => {
  const problem = { code: "MODEL_REFUSED", reason: "No." } as const;
  const failed = (id: string, acted = false) =>
    turn(id, { state: "failed", meta: { problem, ...(acted && { acted: true as const }) } });

  test("is kept with its reason, and is left out of what models are told once another takes its place", async () => {
    await speak(store, "a", 1);
    const place = await store.write(() =>
      store.sessions.append(session("a"), store.sessions.find(owner, "a"), failed("x")),
    );
    expect(store.sessions.recentTurns(place, 100)).toMatchObject([
      { state: "done" },
      { id: "x", state: "failed", meta: { problem } },
    ]);
    const row = store.sessions.replaceable(place, "x")!;
    await store.write(() => store.sessions.replace(row));
    expect(store.sessions.recentTurns(place, 100).map(({ id }) => id)).toEqual(["a0"]);
    expect(store.sessions.turnsBefore(place, 9).turns.map(({ id, replaced }) => [id, replaced])).toEqual([
      ["a0", false],
      ["x", true],
    ]);
    expect(store.sessions.replaceable(place, "x")).toBeUndefined();
  });

  test("can't be replaced when it has its answer, when something acted in it, or when it is too far back", async () => {
    await store.write(() => store.sessions.append(session("a"), undefined, failed("x")));
    await store.write(() =>
      store.sessions.append(session("a"), store.sessions.find(owner, "a"), failed("acted", true)),
    );
    const place = await speak(store, "a", 1);
    expect(["a0", "acted", "none"].map((id) => store.sessions.replaceable(place, id, 9))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([1, 2, 3].map((limit) => store.sessions.replaceable(place, "x", limit) !== undefined)).toEqual([
      false,
      false,
      true,
    ]);
  });
});
