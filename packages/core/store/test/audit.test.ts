// A line of the audit log that somebody changed, removed, slipped in or moved, and nobody notices.
import { DatabaseSync } from "node:sqlite";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkDatabase } from "../src/index.ts";
import { canonicalJson } from "../src/audit.ts";
import { crash, home, reopen, store, storeForEachTest } from "./each-test.ts";

storeForEachTest();

const add = (count: number, from = 0): Promise<void> =>
  store.write(() => {
    for (let n = 0; n < count; n += 1) store.audit.add("thing-happened", { which: from + n, b: [1, "é", null], a: {} });
  });

/** As somebody who can write the file does. */
function tamper(sql: string): void {
  const db = new DatabaseSync(home.file);
  db.exec(sql);
  db.close();
}

const WHOLE = { brokenAt: undefined, complete: true };

test("an empty log and a log of some pages are whole, over restarts and kills", async () => {
  expect(await store.audit.verify()).toEqual({ entries: 0, ...WHOLE });
  await add(1_200);
  reopen();
  await add(1);
  crash();
  await add(2);
  expect(await store.audit.verify()).toEqual({ entries: 1_203, ...WHOLE });
  expect(store.audit.list(2).map(({ n, kind }) => [n, kind])).toEqual([
    [1_203, "thing-happened"],
    [1_202, "thing-happened"],
  ]);
  expect(store.audit.list(5, 3).map(({ n, data }) => [n, data])).toEqual([
    [2, { which: 1, b: [1, "é", null], a: {} }],
    [1, { which: 0, b: [1, "é", null], a: {} }],
  ]);
});

test("a line of a transaction that failed was never there", async () => {
  await add(2);
  const failed = store.write(() => {
    store.audit.add("never-happened", {});
    throw new Error("no");
  });
  await expect(failed).rejects.toMatchObject({ code: "STORE_FAILED" });
  await add(1);
  expect(await store.audit.verify()).toEqual({ entries: 3, ...WHOLE });
});

describe("of what was done to it, it says where", () => {
  test.each([
    ["a changed text", "UPDATE audit SET data = replace(data, '4', '9') WHERE n = 5", 5],
    ["a changed time", "UPDATE audit SET at = at + 1 WHERE n = 700", 700],
    ["a changed kind", "UPDATE audit SET kind = 'x' WHERE n = 1", 1],
    ["a removed line", "DELETE FROM audit WHERE n = 600", 600],
    ["the first lines removed", "DELETE FROM audit WHERE n < 10", 1],
    ["two that changed places", "UPDATE audit SET n = -n WHERE n IN (3, 4); UPDATE audit SET n = 7 + n WHERE n < 0", 3],
    ["an end that was cut off", "DELETE FROM audit WHERE n > 900", 901],
    ["everything removed", "DELETE FROM audit", 1],
    ["a copy slipped in", "INSERT INTO audit SELECT 1001, at, kind, data, hash FROM audit WHERE n = 1000", 1_001],
    ["an end that was forgotten", "DELETE FROM meta WHERE key = 'audit.head'", 1],
    ["an end that was made up", "UPDATE meta SET value = '1 x' WHERE key = 'audit.head'", 1],
  ])("%s", async (_, sql, brokenAt) => {
    await add(1_000);
    tamper(sql);
    expect(await store.audit.verify()).toMatchObject({ brokenAt });
    // Lines that are added afterwards fix nothing.
    await add(3);
    const { brokenAt: still } = await store.audit.verify();
    expect(still).toBeDefined();
    expect(still).toBeLessThanOrEqual(Math.max(brokenAt, 1_001));
  });
});

test("whoever cuts off the end and sets it back is missed no more than any log could", async () => {
  await add(10);
  const { hash } = store.audit.list(1, 6)[0]!;
  tamper(`DELETE FROM audit WHERE n > 5; UPDATE meta SET value = '5 ${hash}' WHERE key = 'audit.head'`);
  // Without something outside of the database this is a log of five lines: the page says so.
  expect(await store.audit.verify()).toEqual({ entries: 5, ...WHOLE });
});

test("it is looked through in slices, while lines are added", async () => {
  await add(3_000);
  let turns = 0;
  const verified = store.audit.verify().then((report) => ({ report, turns }));
  const adding = add(100);
  for (let done = false; !done; turns += 1) {
    done = await Promise.race([
      verified.then(() => true),
      new Promise<false>((resolve) => setImmediate(() => resolve(false))),
    ]);
  }
  await adding;
  const { report, turns: between } = await verified;
  expect(report).toEqual({ entries: 3_100, ...WHOLE });
  expect(between).toBeGreaterThan(3);
});

test("the check of the database tells of it", async () => {
  await add(10);
  const check = () => checkDatabase(home.file, { quick: true, clock: home.clock });
  expect((await check()).problems).toEqual([]);
  tamper("UPDATE audit SET kind = 'x' WHERE n = 4");
  expect((await check()).problems).toEqual(["The audit log is not as it was written, from line 4 on."]);
});

test("one value has one text, whatever the order of its keys", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value as never);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(reversed(value) as never)).toBe(text);
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}
