// A conversation that begins anew and loses the old one, sums of somebody else's turns, choices that pile up for ever.
import type { ClientId } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { home, reopen, store, storeForEachTest } from "./each-test.ts";
import { session, speak, turn } from "./fixture.ts";

storeForEachTest();

const DAY_MS = 86_400_000;
const LIMITS = { sessionDays: 90, maxSessions: 0, toolCallDays: 30, messageDays: 30 };
const owner = "c" as ClientId;
const choose = (name: string, model: string | undefined, atMs = home.clock.now()) =>
  store.write(() => store.conversations.choose(owner, name, model, atMs));
const modelOf = (name: string) => store.conversations.modelOf(owner, name);
const names = () => store.sessions.list({}, 10).map(({ name, turns }) => `${name}: ${turns}`);

describe("a session that is put aside", () => {
  test("stays under another name, whole, and the next turn begins a new one", async () => {
    const place = await speak(store, "a", 3);
    expect(await store.write(() => store.sessions.putAside(owner, "a"))).toBe(true);
    expect(store.sessions.find(owner, "a")).toBeUndefined();
    expect(names()).toEqual([`a.${place.session}: 3`]);
    const late = await store.write(() => store.sessions.append({ ...session("a"), id: "new" }, place, turn("late")));
    expect(store.sessions.recentTurns(late, 100).map(({ id }) => id)).toEqual(["late"]);
    expect(store.sessions.recentTurns(place, 100).map(({ id }) => id)).toEqual(["a0", "a1", "a2"]);
  });

  test("where there is none, nothing happens; a name that is taken is not taken again", async () => {
    expect(await store.write(() => store.sessions.putAside(owner, "a"))).toBe(false);
    const { session: n } = await speak(store, "a", 1);
    await speak(store, `a.${n}`, 2);
    await store.write(() => store.sessions.putAside(owner, "a"));
    expect(names()).toEqual([`a.${n}: 2`, `a.${n}.${n}: 1`]);
  });

  test("is another owner's matter when another owner has the name", async () => {
    await speak(store, "a", 1);
    expect(await store.write(() => store.sessions.putAside("other" as ClientId, "a"))).toBe(false);
    expect(names()).toEqual(["a: 1"]);
  });
});

describe("what a conversation has used", () => {
  test("is the sum of its own turns, as many as are asked for", async () => {
    await speak(store, "b", 2, { inputTokens: 1000, costUsd: 9 });
    await speak(store, "a", 2, { inputTokens: 10, outputTokens: 3, costUsd: 0.25 });
    await speak(store, "b", 1, { inputTokens: 1000, costUsd: 9 });
    const place = await speak(store, "a", 1, { inputTokens: 5, outputTokens: 1, costUsd: 0.5 });
    const all = { turns: 3, inputTokens: 25, outputTokens: 7, costUsd: 1 };
    expect(store.sessions.usageOf(place, 100)).toEqual(all);
    expect(store.sessions.usageOf(place, 2)).toEqual({ turns: 2, inputTokens: 15, outputTokens: 4, costUsd: 0.75 });
  });

  test("has no cost when that of one turn is unknown", async () => {
    await speak(store, "a", 1, { costUsd: 1 });
    const place = await speak(store, "a", 1);
    expect(store.sessions.usageOf(place, 100)).toMatchObject({ turns: 2, costUsd: undefined });
  });
});

describe("what was chosen in a conversation", () => {
  test("is there after a restart, until it is taken back", async () => {
    await choose("a", "small");
    await choose("a", "large");
    await choose("b", "small");
    reopen();
    expect([modelOf("a"), modelOf("b")]).toEqual(["large", "small"]);
    await choose("a", undefined);
    expect([modelOf("a"), modelOf("b")]).toEqual([undefined, "small"]);
    expect(store.conversations.modelOf("other" as ClientId, "b")).toBeUndefined();
  });

  test("goes with its session, whoever removes that", async () => {
    for (const name of ["a", "b", "c"]) {
      await speak(store, name, 1, { at: name === "b" ? home.clock.now() - 91 * DAY_MS : home.clock.now() });
      await choose(name, "small");
    }
    await store.write(() => store.sessions.remove("id-c-a"));
    await store.prune(LIMITS, home.clock.now());
    expect(["a", "b", "c"].map(modelOf)).toEqual([undefined, undefined, "small"]);
  });

  test("stays when its session is put aside; without one it goes when it is old, and not before", async () => {
    const old = home.clock.now() - 91 * DAY_MS;
    for (const name of ["kept", "aside"]) {
      await speak(store, name, 1, { at: home.clock.now() });
      await choose(name, "small", old);
    }
    await choose("never", "small", old);
    await choose("fresh", "small");
    await store.write(() => store.sessions.putAside(owner, "aside"));
    expect(modelOf("aside")).toBe("small");
    await store.prune(LIMITS, home.clock.now());
    expect(["kept", "aside", "never", "fresh"].map(modelOf)).toEqual(["small", undefined, undefined, "small"]);
  });

  test("is kept for ever where conversations are", async () => {
    await choose("never", "small", 0);
    await store.prune({ ...LIMITS, sessionDays: 0 }, home.clock.now());
    expect(modelOf("never")).toBe("small");
  });
});
