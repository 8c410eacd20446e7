/** Ways to remember ids, each beside the same row for the message, 64 in a commit. */
import { hash, randomBytes } from "node:crypto";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { DEDUPE_MS } from "@svc/contract";
import { SeenStore } from "../src/messages/dedupe.ts";
import { openDatabase } from "../src/store.ts";
import { messageId } from "./arrivals.ts";
import { type Cost, Meter } from "./meter.ts";

export const ID_STORES = ["not at all", "in a B-tree", "as svc does"] as const;

interface IdStore {
  add(key: string): void;
  beforeCommit(): void;
  afterCommit(): void;
}

const BATCH = 64;
const NOW_MS = 1_795_278_245_955;
const BODY = JSON.stringify({ text: "x".repeat(500) });

export function measureIds(
  folder: string,
  { how, remembered, messages }: { how: (typeof ID_STORES)[number]; remembered: number; messages: number },
): Cost {
  const { db } = openDatabase(join(folder, `${how}-${remembered}.db`));
  db.exec("CREATE TABLE row (n INTEGER PRIMARY KEY, body TEXT NOT NULL)");
  const insert = db.prepare("INSERT INTO row (body) VALUES (?)");
  const ids = how === "as svc does" ? svcStore(db, remembered) : how === "in a B-tree" ? tree(db, remembered) : NONE;
  db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  const meter = new Meter();
  for (let n = 0; n < messages; n += BATCH) {
    db.exec("BEGIN IMMEDIATE");
    for (let index = 0; index < BATCH; index += 1) {
      ids.add(messageId(n + index));
      insert.run(BODY);
    }
    ids.beforeCommit();
    db.exec("COMMIT");
    ids.afterCommit();
    meter.commit();
  }
  const cost = meter.cost(messages);
  db.close();
  return cost;
}

const nothing = (): void => {};
const NONE: IdStore = { add: nothing, beforeCommit: nothing, afterCommit: nothing };

function svcStore(db: DatabaseSync, remembered: number): IdStore {
  const seen = new SeenStore(db);
  for (let n = 0; n < remembered;) {
    db.exec("BEGIN");
    for (const end = n + 50_000; n < end; n += 1) seen.add(`earlier ${n}`, NOW_MS, DEDUPE_MS);
    seen.flush();
    db.exec("COMMIT");
    seen.settle();
  }
  return {
    add: (key) => void seen.add(key, NOW_MS, DEDUPE_MS),
    beforeCommit: () => seen.flush(),
    afterCommit: () => seen.settle(),
  };
}

function tree(db: DatabaseSync, remembered: number): IdStore {
  db.exec("CREATE TABLE tree (digest BLOB PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID");
  const find = db.prepare("SELECT 1 FROM tree WHERE digest = ? AND expires_at > ?");
  const insert = db.prepare("INSERT INTO tree VALUES (?, ?)");
  const earlier = Array.from({ length: remembered }, () => randomBytes(16)).toSorted(Buffer.compare);
  db.exec("BEGIN");
  for (const digest of earlier) insert.run(digest, NOW_MS + DEDUPE_MS);
  db.exec("COMMIT");
  return {
    ...NONE,
    add: (key) => {
      const digest = hash("sha256", key, "buffer").subarray(0, 16);
      if (find.get(digest, NOW_MS) === undefined) insert.run(digest, NOW_MS + DEDUPE_MS);
    },
  };
}
