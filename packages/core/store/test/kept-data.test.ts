// What is looked up, summed up and sealed: numbers that are a little wrong, and a place that leads into another's turns.
import type { ClientId } from "@svc/contract";
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { type Device, ownerOfClient, type SessionPlace, type TurnUsage } from "../src/index.ts";
import { crash, home, reopen, store, storeForEachTest } from "./each-test.ts";
import { session, speak, turn } from "./fixture.ts";

storeForEachTest();

const device = (id: string, clientId = `client-${id}`): Device => ({
  id,
  tokenHash: `hash-${id}`,
  clientId: clientId as ClientId,
  name: id,
  scope: "operator",
  createdAt: 1,
  lastSeenAt: undefined,
});

const ids = (turns: readonly { id: string }[]): string[] => turns.map(({ id }) => id);

describe("paging backwards", () => {
  test("pages follow each other without a gap, whole and in order, to the first turn", async () => {
    const place = await speak(store, "a", 7);
    await speak(store, "b", 1);
    const pages: string[][] = [];
    for (let next: SessionPlace | undefined = place; next !== undefined;) {
      const page = store.sessions.turnsBefore(next, 3);
      pages.push(ids(page.turns));
      next = page.before;
    }
    expect(pages).toEqual([["a4", "a5", "a6"], ["a1", "a2", "a3"], ["a0"]]);
  });

  test("a page that ends with the first turn is the last", async () => {
    const place = await speak(store, "a", 3);
    expect(store.sessions.turnsBefore(place, 3).before).toBeUndefined();
  });

  test("a made-up place shows nothing of another conversation, nor of none", async () => {
    const a = await speak(store, "a", 2);
    const b = await speak(store, "b", 2);
    for (const lastTurn of [b.lastTurn, b.lastTurn - 1, 999, 0, -1]) {
      expect(store.sessions.turnsBefore({ session: a.session, lastTurn }, 10)).toEqual({
        turns: [],
        before: undefined,
      });
    }
  });
});

describe("conversations", () => {
  test("are found by id, with the place they stand at", async () => {
    const place = await speak(store, "a", 2, { at: 7 });
    const found = { id: "id-c-a", clientId: "c", name: "a", createdAt: 7, updatedAt: 7, turns: 2, place };
    expect(store.sessions.byId("id-c-a")).toMatchObject(found);
    expect(store.sessions.byId("id-c-b")).toBeUndefined();
  });

  test("a place that is out of date never moves another conversation that has its row now", async () => {
    const stale = await speak(store, "mine", 2);
    await store.write(() => store.sessions.remove("id-c-mine"));
    const theirs = await store.write(() => store.sessions.append(session("x", "other"), undefined, turn("theirs")));
    expect(theirs.session).toBe(stale.session);
    const mine = await store.write(() => store.sessions.append(session("mine"), stale, turn("late")));
    expect(ids(store.sessions.recentTurns(mine, 100))).toEqual(["late"]);
    expect(ids(store.sessions.recentTurns(theirs, 100))).toEqual(["theirs"]);
    expect(store.sessions.byId("id-other-x")).toMatchObject({ turns: 1, clientId: "other" });
  });

  test("one that was made anew under the same name goes on from there", async () => {
    const stale = await speak(store, "a", 3);
    await store.write(() => store.sessions.remove("id-c-a"));
    await speak(store, "b", 1);
    await speak(store, "a", 1);
    const place = await store.write(() => store.sessions.append(session("a"), stale, turn("late")));
    expect(ids(store.sessions.recentTurns(place, 100))).toEqual(["a0", "late"]);
    expect(store.sessions.find("c" as ClientId, "a")).toEqual(place);
  });
});

describe("usage", () => {
  const used = (more: Partial<TurnUsage> = {}): TurnUsage => ({
    day: "2026-01-01",
    agent: "default",
    model: "m",
    inputTokens: 10,
    outputTokens: 1,
    costUsd: 0.5,
    ...more,
  });
  const add = (...turns: TurnUsage[]): Promise<void[]> =>
    Promise.all(turns.map((one) => store.write(() => store.usage.add(one))));

  test("is summed by day, agent and model; what has no price is counted apart", async () => {
    await add(used(), used({ costUsd: undefined }), used({ agent: "other" }), used({ model: "n", costUsd: 0.25 }));
    await add(used(), used({ day: "2026-01-02" }));
    expect(store.usage.spentUsd("2026-01-01", "default")).toBe(1.25);
    expect(store.usage.spentUsd("2026-01-03", "default")).toBe(0);
    const first = { day: "2026-01-01", agent: "default", model: "m" };
    expect(store.usage.list("2026-01-01")[0]).toEqual({
      ...first,
      turns: 3,
      inputTokens: 30,
      outputTokens: 3,
      costUsd: 1,
      unknownCostTurns: 1,
    });
    expect(store.usage.list("2026-01-02").map(({ day }) => day)).toEqual(["2026-01-02"]);
  });

  test("is told apart by channel, and counts once for its agent all the same", async () => {
    await add(used(), used({ channel: "pager" }), used({ channel: "pager", costUsd: 1 }));
    await add(used({ channel: "email" }));
    expect(
      store.usage.listByChannel("2026-01-01").map(({ channel, turns, costUsd }) => [channel, turns, costUsd]),
    ).toEqual([
      ["", 1, 0.5],
      ["email", 1, 0.5],
      ["pager", 2, 1.5],
    ]);
    expect(store.usage.list("2026-01-01")).toMatchObject([{ turns: 4, costUsd: 2.5 }]);
    expect(store.usage.spentUsd("2026-01-01", "default")).toBe(2.5);
  });

  test("is summed by client, estimates included, over restarts, and dropped after a month", async () => {
    const [one, two] = ["one", "two"] as [ClientId, ClientId];
    await add(used({ client: one, channel: "pager" }), used({ client: two, costUsd: undefined, estimatedUsd: 3 }));
    await add(used({ client: one, channel: "pager" }), used({ client: one, agent: "other" }), used());
    const spent = () => [one, two].map((who) => store.usage.spentByClientUsd("2026-01-01", "default", who));
    expect(spent()).toEqual([1, 3]);
    reopen();
    expect(spent()).toEqual([1, 3]);
    expect(store.usage.clients("2026-01-01", 2)).toEqual([
      { agent: "default", client: two, channel: "", spentUsd: 3 },
      { agent: "default", client: one, channel: "pager", spentUsd: 1 },
    ]);
    const limits = { sessionDays: 0, maxSessions: 0, toolCallDays: 1, messageDays: 1 };
    const atMs = (day: string) => Date.parse(`${day}T12:00:00Z`);
    await store.prune(limits, atMs("2026-02-01"));
    expect(spent()).toEqual([1, 3]);
    await store.prune(limits, atMs("2026-02-02"));
    expect(spent()).toEqual([0, 0]);
    expect(store.usage.spentUsd("2026-01-01", "default")).toBe(4.5);
  });

  test("a write that is undone adds nothing; its neighbours are added once", async () => {
    const results = await Promise.allSettled([
      add(used()),
      store.write(() => {
        store.usage.add(used());
        throw new Error("no");
      }),
      add(used()),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(store.usage.spentUsd("2026-01-01", "default")).toBe(1);
    reopen();
    expect(store.usage.spentUsd("2026-01-01", "default")).toBe(1);
  });
});

describe("the vault", () => {
  test("keeps sealed texts by owner and name", async () => {
    await store.vault.set("a", "x", () => "1");
    await store.vault.set("a", "x", () => "2");
    await store.vault.set("a", "%y_", () => "3");
    await store.vault.set("b", "x", () => "4");
    expect(store.vault.get("a", "x")).toBe("2");
    expect(store.vault.list("a", "")).toEqual(["%y_", "x"]);
    expect(store.vault.list("a", "%")).toEqual(["%y_"]);
    expect(store.vault.list("a", "_")).toEqual([]);
    expect(await store.vault.delete("a", "x")).toBe(true);
    expect(await store.vault.delete("a", "x")).toBe(false);
    expect(store.vault.get("a", "x")).toBeUndefined();
    expect(store.vault.get("b", "x")).toBe("4");
  });

  test("what it keeps of a device goes with the device, of every feature, and nothing else does", async () => {
    const [mine, other] = ["client-1", "client-2"].map((id) => id as ClientId) as [ClientId, ClientId];
    await store.devices.add(device("mine", mine));
    const owners = [ownerOfClient("a", mine), ownerOfClient("b", mine), ownerOfClient("a", other), "a", mine];
    for (const owner of owners) await store.vault.set(owner, "x", () => `of ${owner}`);
    expect(await store.devices.remove("mine")).toBe(true);
    reopen();
    expect(owners.map((owner) => store.vault.get(owner, "x"))).toEqual([
      undefined,
      undefined,
      "of a/client-2",
      "of a",
      "of client-1",
    ]);
  });

  test("a client whose id looks like another's owner is nobody but itself", async () => {
    const odd = "a/client-2" as ClientId;
    const other = "client-2" as ClientId;
    await store.devices.add(device("odd", odd));
    for (const id of [odd, other]) await store.vault.set(ownerOfClient("a", id), "x", () => "kept");
    await store.devices.remove("odd");
    expect(store.vault.get(ownerOfClient("a", odd), "x")).toBeUndefined();
    expect(store.vault.get(ownerOfClient("a", other), "x")).toBe("kept");
  });

  test("is sealed anew all or nothing", async () => {
    for (const name of ["one", "two", "three"]) await store.vault.set("a", name, () => `old ${name}`);
    const open = (sealed: string): string => {
      if (sealed === "old two") throw new SvcError("SECRET_UNREADABLE");
      return sealed.slice(4);
    };
    const before = store.vault.all();
    await expect(store.vault.reseal(open, (text) => `new ${text}`)).rejects.toMatchObject({
      code: "SECRET_UNREADABLE",
      message: expect.stringContaining('a keeps under the name "two"') as string,
    });
    expect(store.vault.all()).toEqual(before);
    await store.vault.set("a", "two", () => "old zwei");
    await store.vault.reseal(open, (text) => `new ${text}`);
    expect(store.vault.all().map(({ sealed }) => sealed)).toEqual(["new one", "new three", "new zwei"]);
  });

  test("a value is sealed where it is kept: not with a key that a rotation replaces first", async () => {
    let key = "old";
    const rotated = store.vault
      .reseal(
        (sealed) => sealed,
        (text) => text,
      )
      .then(() => undefined);
    const kept = store.vault.set("a", "x", () => key);
    key = "new";
    await Promise.all([rotated, kept]);
    expect(store.vault.get("a", "x")).toBe("new");
  });
});

test("state is plain text by owner and name, and is there after a kill", async () => {
  await store.state.set("a", "cursor", "1");
  await store.state.set("a", "cursor", "2");
  await store.state.set("a", "%b", "3");
  await store.state.set("b", "cursor", "4");
  crash();
  expect([store.state.get("a", "cursor"), store.state.get("b", "cursor"), store.state.get("c", "x")]).toEqual([
    "2",
    "4",
    undefined,
  ]);
  expect([store.state.list("a", ""), store.state.list("a", "%"), store.state.list("a", "_")]).toEqual([
    ["%b", "cursor"],
    ["%b"],
    [],
  ]);
  expect([await store.state.delete("a", "cursor"), await store.state.delete("a", "cursor")]).toEqual([true, false]);
  crash();
  expect([store.state.list("a", ""), store.state.get("b", "cursor")]).toEqual([["%b"], "4"]);
});

describe("devices", () => {
  test("a new name survives a restart; nobody gets one who is not there", async () => {
    await store.devices.add(device("a"));
    expect(await store.devices.rename("a", "phone")).toBe(true);
    expect(await store.devices.rename("b", "phone")).toBe(false);
    expect(store.devices.all()).toEqual([{ ...device("a"), name: "phone" }]);
    reopen();
    expect(store.devices.all()).toEqual([{ ...device("a"), name: "phone" }]);
  });

  test("one that is revoked stays revoked, whatever was being written about it", async () => {
    await store.devices.add(device("a"));
    const gone = store.devices.remove("a");
    const renamed = store.devices.rename("a", "phone");
    store.devices.touch("a", 5_000_000);
    expect([await gone, await renamed]).toEqual([true, false]);
    expect(store.devices.all()).toEqual([]);
  });
});

test("acting calls of one agent since a moment, oldest first, and those of one client of it", async () => {
  const [one, two] = ["one", "two"] as [ClientId, ClientId];
  const call = (callId: string, agent: string, acting: boolean): Promise<void> =>
    store.write(() => {
      const client = callId === "4" ? two : one;
      store.toolCalls.start({ turnId: "t", callId, agent, client, tool: "x", acting, input: {} });
    });
  const start = home.clock.now();
  for (const [callId, agent, acting] of [
    ["1", "default", true],
    ["2", "other", true],
    ["3", "default", false],
    ["4", "default", true],
  ] as const) {
    await home.clock.advance(1000);
    await call(callId, agent, acting);
  }
  expect(store.toolCalls.actionsSince("default", start)).toEqual([start + 1000, start + 4000]);
  expect(store.toolCalls.actionsSince("default", start + 1000)).toEqual([start + 4000]);
  expect(store.toolCalls.actionsSince("default", start, one)).toEqual([start + 1000]);
  expect(store.toolCalls.actionsSince("default", start, two)).toEqual([start + 4000]);
});

test("a changed window of idempotency holds for keys that are kept from then on", async () => {
  const keep = (key: string): Promise<void> =>
    store.write(() => store.idempotency.keep({ scope: "s", key }, "t", "done"));
  await keep("before");
  store.idempotency.configure({ ttlMs: 1000, maxKeys: 100 });
  await keep("after");
  await home.clock.advance(1000);
  expect(store.idempotency.claim({ scope: "s", key: "before" })).toBe("duplicate");
  expect(store.idempotency.claim({ scope: "s", key: "after" })).toBe("new");
});
