// One bad write must not take its neighbours down, and nobody is told before the commit is on disk.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { GroupCommit } from "../src/engine/group-commit.ts";

function open(): {
  db: DatabaseSync;
  commits: GroupCommit;
  insert: (n: number) => () => unknown;
  rollbacks: () => number;
} {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE t (n INTEGER PRIMARY KEY)");
  let rollbacks = 0;
  const statement = db.prepare("INSERT INTO t VALUES (?)");
  const commits = new GroupCommit(db, { onRollback: () => (rollbacks += 1) });
  return { db, commits, insert: (n) => () => statement.run(n), rollbacks: () => rollbacks };
}

const rows = (db: DatabaseSync): number[] =>
  (db.prepare("SELECT n FROM t ORDER BY n").all() as { n: number }[]).map((row) => row.n);

describe("group commit", () => {
  test("what is asked for in one turn of the loop is one transaction", async () => {
    const { db, commits, insert } = open();
    let inOne = true;
    const all = Array.from({ length: 10 }, (_, n) =>
      commits.write(() => {
        inOne &&= db.isTransaction;
        return insert(n)();
      }),
    );
    expect(rows(db)).toEqual([]);
    await Promise.all(all);
    expect(inOne).toBe(true);
    expect(rows(db)).toHaveLength(10);
  });

  test("a write that fails is told alone; its neighbours are kept", async () => {
    const { db, commits, insert, rollbacks } = open();
    const results = await Promise.allSettled([
      commits.write(insert(1)),
      commits.write(insert(1)),
      commits.write(insert(2)),
    ]);
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(rows(db)).toEqual([1, 2]);
    expect(rollbacks()).toBe(2);
    expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ code: "STORE_FAILED" });
  });

  test("a full database is STORE_FULL, and writing works again once there is room", async () => {
    const { db, commits } = open();
    const blob = db.prepare("INSERT INTO t SELECT 1000 + value FROM json_each(?)");
    const many = JSON.stringify(Array.from({ length: 20_000 }, (_, n) => n));
    db.exec("PRAGMA max_page_count = 4");
    await expect(commits.write(() => blob.run(many))).rejects.toMatchObject({ code: "STORE_FULL", status: 503 });
    expect(db.isTransaction).toBe(false);
    db.exec("PRAGMA max_page_count = 10000");
    await commits.write(() => blob.run(many));
    expect(rows(db)).toHaveLength(20_000);
  });

  test("a lock that another process holds is waited for once for all, and writing works again when it lets go", async () => {
    using home = temporaryHome();
    const file = join(home.path, "db");
    using other = new DatabaseSync(file);
    other.exec("CREATE TABLE t (n INTEGER PRIMARY KEY)");
    using db = new DatabaseSync(file, { timeout: 1 });
    let transactions = 0;
    const commits = new GroupCommit(db, { onRollback: () => (transactions += 1) });
    const insert = db.prepare("INSERT INTO t VALUES (?)");
    const write = (n: number): Promise<unknown> => commits.write(() => insert.run(n));
    other.exec("BEGIN IMMEDIATE");
    const results = await Promise.allSettled([write(1), write(2), write(3)]);
    expect(results.map((result) => (result as PromiseRejectedResult).reason)).toMatchObject([
      { code: "STORE_FAILED" },
      { code: "STORE_FAILED" },
      { code: "STORE_FAILED" },
    ]);
    expect(transactions).toBe(1);
    expect(commits.writable).toBe(false);
    // From then on nobody stands still for it.
    expect(db.prepare("PRAGMA busy_timeout").get()).toEqual({ timeout: 0 });
    other.exec("ROLLBACK");
    await Promise.all([write(1), write(2)]);
    expect(commits.writable).toBe(true);
    expect(db.prepare("PRAGMA busy_timeout").get()).toEqual({ timeout: 1 });
    expect(rows(db)).toEqual([1, 2]);
  });

  test("more than a batch goes on in the next turns of the loop, in order", async () => {
    const { db, commits, insert } = open();
    const order: number[] = [];
    await Promise.all(Array.from({ length: 200 }, (_, n) => commits.write(insert(n)).then(() => order.push(n))));
    expect(order).toEqual(Array.from({ length: 200 }, (_, n) => n));
    expect(rows(db)).toHaveLength(200);
  });

  test("shutdown commits what is queued", () => {
    const { db, commits, insert } = open();
    void commits.write(insert(7));
    commits.flushNow();
    expect(rows(db)).toEqual([7]);
  });
});
