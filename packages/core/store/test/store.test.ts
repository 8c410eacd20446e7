// Restart: what was kept is there again, what was not finished is judged by what it did.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { vectorCases } from "@svc/testkit/vectors";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Device, lockHome, openStore, type SessionPlace, type Store, type NewTurn } from "../src/index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-store-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const clock = fakeClock();
const open = (options = { ttlMs: 300_000, maxKeys: 100 }): Store =>
  openStore({ file: join(folder, "svc.db"), clock, idempotency: options });

const device = (id: string): Device => ({
  id,
  tokenHash: `hash-of-${id}`,
  clientId: `client-${id}` as ClientId,
  name: id,
  scope: "operator",
  createdAt: 1,
  lastSeenAt: undefined,
});

describe("devices", () => {
  test("survive a restart with the same ClientId, and removal does too", async () => {
    const first = open();
    await first.devices.add(device("a"));
    await first.devices.add(device("b"));
    expect(await first.devices.remove("a")).toBe(true);
    expect(await first.devices.remove("a")).toBe(false);
    first.devices.touch("b", 5_000_000);
    first.close();
    const again = open();
    expect(again.devices.all()).toEqual([{ ...device("b"), lastSeenAt: 5_000_000 }]);
    again.close();
  });

  test("a device that can't be stored is not kept in memory either", async () => {
    const store = open();
    await store.devices.add(device("a"));
    await expect(store.devices.add({ ...device("b"), tokenHash: "hash-of-a" })).rejects.toMatchObject({
      code: "STORE_FAILED",
    });
    expect(store.devices.all().map((one) => one.id)).toEqual(["a"]);
    store.close();
  });
});

describe("idempotency.store (vectors)", () => {
  for (const { name, input, expected } of vectorCases<Input, Expected>("idempotency.store")) {
    test(`${name}`, async () => {
      const clock = fakeClock();
      const store = openStore({
        file: ":memory:",
        clock,
        idempotency: { ttlMs: input.ttl_ms, maxKeys: input.max_keys },
      });
      const isNew: boolean[] = [];
      let at = 0;
      for (const step of input.steps) {
        await clock.advance(step.at_ms - at);
        at = step.at_ms;
        const claim = { scope: "s", key: step.key };
        isNew.push(store.idempotency.claim(claim) === "new");
        if (isNew.at(-1)) {
          await store.write(() => store.idempotency.keep(claim, `turn-${step.at_ms}`, "done"));
          store.idempotency.release(claim);
        }
      }
      expect(isNew).toEqual(expected.is_new);
      const kept = store.idempotency.storedKeys();
      expect(kept).toEqual(expected.stored_keys_after ?? kept.slice(-Math.max(1, input.max_keys)));
      store.close();
    });
  }
});

interface Input {
  readonly ttl_ms: number;
  readonly max_keys: number;
  readonly steps: { at_ms: number; key: string }[];
}

interface Expected {
  readonly is_new: boolean[];
  readonly stored_keys_after?: string[];
}

describe("idempotency", () => {
  test("two names of one request: either makes a duplicate, and both end together", async () => {
    const store = open();
    const claim = { scope: "c", key: "mine", also: "webhook-id:1" };
    const others = [
      { scope: "c", key: "webhook-id:1" },
      { scope: "c", key: "mine" },
      { scope: "c", key: "new", also: "webhook-id:1" },
    ];
    const answers = () => others.map((other) => store.idempotency.claim(other));
    expect(store.idempotency.claim(claim)).toBe("new");
    expect(answers()).toEqual(["duplicate", "duplicate", "duplicate"]);
    await store.write(() => store.idempotency.keep(claim, "t", "done"));
    store.idempotency.release(claim);
    expect(answers()).toEqual(["duplicate", "duplicate", "duplicate"]);
    // A refused claim leaves nothing behind.
    expect(store.idempotency.claim({ scope: "c", key: "new" })).toBe("new");
    store.close();
  });

  const claim = { scope: "c", key: "k" };

  test("a key whose turn runs is a duplicate; a released one is new again", () => {
    const store = open();
    expect(store.idempotency.claim(claim)).toBe("new");
    expect(store.idempotency.claim(claim)).toBe("duplicate");
    expect(store.idempotency.claim({ scope: "other", key: "k" })).toBe("new");
    store.idempotency.release(claim);
    expect(store.idempotency.claim(claim)).toBe("new");
    store.close();
  });

  test("the window counts from the claim, also over a restart and a clock that jumps back", async () => {
    const clock = fakeClock();
    const file = join(folder, "svc.db");
    const options = { file, clock, idempotency: { ttlMs: 1000, maxKeys: 10 } };
    const store = openStore(options);
    store.idempotency.claim(claim);
    await clock.advance(600);
    await store.write(() => store.idempotency.keep(claim, "t", "done"));
    store.close();
    const again = openStore(options);
    expect(again.idempotency.claim(claim)).toBe("duplicate");
    await clock.advance(399);
    expect(again.idempotency.claim(claim)).toBe("duplicate");
    await clock.advance(1);
    expect(again.idempotency.claim(claim)).toBe("new");
    again.close();
  });

  test("a claim that asks for longer than the window is kept for longer, also over a restart", async () => {
    const clock = fakeClock();
    const options = { file: join(folder, "svc.db"), clock, idempotency: { ttlMs: 1000, maxKeys: 10 } };
    const store = openStore(options);
    const signed = { scope: "c", key: "webhook-id:1", minTtlMs: 600_000 };
    store.idempotency.claim(signed);
    await store.write(() => store.idempotency.keep(signed, "t", "done"));
    store.close();
    const again = openStore(options);
    await clock.advance(599_999);
    expect(again.idempotency.claim(signed)).toBe("duplicate");
    await clock.advance(1);
    expect(again.idempotency.claim(signed)).toBe("new");
    again.close();
  });

  test("killed during a turn: the key stays only if something had acted", async () => {
    const store = open();
    const acted = { scope: "c", key: "acted" };
    const read = { scope: "c", key: "read" };
    for (const [claim, turn, acting] of [
      [acted, "t1", true],
      [read, "t2", false],
    ] as const) {
      store.idempotency.claim(claim);
      await store.write(() => {
        store.idempotency.keep(claim, turn, "running");
        store.toolCalls.start({
          turnId: turn,
          callId: "1",
          agent: "default",
          client: "c" as ClientId,
          tool: "x",
          acting,
          input: {},
        });
      });
    }
    // No close: the process is gone.
    const again = open();
    expect(again.idempotency.claim(acted)).toBe("duplicate");
    expect(again.idempotency.claim(read)).toBe("new");
    expect(again.toolCalls.statesOf("t1")).toEqual([{ callId: "1", tool: "x", state: "interrupted" }]);
    again.close();
  });

  test("a rolled-back write does not upset the count of keys", async () => {
    const store = open({ ttlMs: 300_000, maxKeys: 2 });
    const keep = (key: string, fail = false): Promise<void> =>
      store.write(() => {
        store.idempotency.keep({ scope: "s", key }, "t", "done");
        if (fail) throw new Error("no");
      });
    await Promise.allSettled([keep("a"), keep("x", true), keep("b")]);
    await Promise.allSettled([keep("y", true)]);
    expect(store.idempotency.storedKeys()).toEqual(["a", "b"]);
    await keep("c");
    expect(store.idempotency.storedKeys()).toEqual(["b", "c"]);
    store.close();
  });
});

describe("sessions", () => {
  const clientId = "c" as ClientId;
  const session = { id: "s", clientId, name: "n" };
  const turn = (id: string, tokens: number): NewTurn => ({
    id,
    at: clock.now(),
    model: "m",
    messages: [{ id }],
    tokens,
    inputTokens: 1,
    outputTokens: 2,
    costUsd: undefined,
  });
  const fill = async (store: Store, tokens: readonly number[], to = session): Promise<SessionPlace> => {
    let place: SessionPlace | undefined;
    for (const [n, count] of tokens.entries()) {
      place = await store.write(() => store.sessions.append(to, place, turn(`${to.id}${n}`, count)));
    }
    return place!;
  };
  const ids = (turns: NewTurn[]): string[] => turns.map((one) => one.id);

  test("history is the newest whole turns that fit", async () => {
    const store = open();
    const place = await fill(store, [10, 20, 30, 40]);
    expect(ids(store.sessions.recentTurns(place, 75))).toEqual(["s2", "s3"]);
    expect(store.sessions.recentTurns(place, 5)).toEqual([]);
    expect(ids(store.sessions.recentTurns(place, 1000))).toEqual(["s0", "s1", "s2", "s3"]);
    expect(store.sessions.find(clientId, "n")).toEqual(place);
    expect(store.sessions.find("other" as ClientId, "n")).toBeUndefined();
    store.close();
  });

  test("turns of several sessions interleave on disk and not in their histories; removal takes only its own", async () => {
    const store = open();
    const other = { id: "o", clientId, name: "other" };
    let [a, b]: (SessionPlace | undefined)[] = [];
    for (let n = 0; n < 100; n += 1) {
      [a, b] = await Promise.all([
        store.write(() => store.sessions.append(session, a, turn(`s${n}`, 1))),
        store.write(() => store.sessions.append(other, b, turn(`o${n}`, 1))),
      ]);
    }
    expect(ids(store.sessions.recentTurns(a!, 90))).toEqual(Array.from({ length: 90 }, (_, n) => `s${n + 10}`));
    expect(store.sessions.list({ clientId }, 10).map((one) => [one.name, one.turns])).toEqual([
      ["other", 100],
      ["n", 100],
    ]);
    expect(await store.write(() => store.sessions.remove("s"))).toBe(true);
    expect(store.sessions.find(clientId, "n")).toBeUndefined();
    expect(ids(store.sessions.recentTurns(b!, 1000))).toHaveLength(100);
    expect(await store.write(() => store.sessions.remove("s"))).toBe(false);
    store.close();
  });
});

describe("the file", () => {
  test("a database of a newer version is refused, untouched", () => {
    open().close();
    const db = new DatabaseSync(join(folder, "svc.db"));
    db.exec("PRAGMA user_version = 999");
    db.close();
    expect(() => open()).toThrow(expect.objectContaining({ code: "STORE_NEWER", exitCode: 78 }));
  });

  test("what is not a database is STORE_FAILED, with the way out", () => {
    writeFileSync(join(folder, "svc.db"), "this is not a database, and long enough to be noticed as such".repeat(50));
    expect(() => open()).toThrow(
      expect.objectContaining({ code: "STORE_FAILED", hint: expect.stringContaining("backup") }),
    );
  });

  test("a home that can't be written is said, and is no stack", () => {
    writeFileSync(join(folder, "file"), "");
    mkdirSync(join(folder, "folder", "lock"), { recursive: true });
    for (const file of [join(folder, "file", "run", "lock"), join(folder, "folder", "lock")]) {
      expect(() => lockHome(file)).toThrow(expect.objectContaining({ code: "HOME_UNWRITABLE" }));
    }
  });

  test("one daemon per home: the second is refused, the next after it is not", () => {
    const unlock = lockHome(join(folder, "run", "lock"));
    expect(() => lockHome(join(folder, "run", "lock"))).toThrow(
      expect.objectContaining({ code: "ALREADY_RUNNING", exitCode: 75 }),
    );
    unlock();
    lockHome(join(folder, "run", "lock"))();
  });
});
