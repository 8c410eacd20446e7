// Sign-ins of the page on disk: a restart must not end them, and neither a revoked device, time nor a backup must leave one.
import { hash } from "node:crypto";
import { join } from "node:path";
import type { ClientId } from "@svc/contract";
import { expect, test } from "vitest";
import { copyDatabase, openStore, type PageSession } from "../src/index.ts";
import { crash, home, reopen, store, storeForEachTest } from "./each-test.ts";

storeForEachTest();

const device = (id: string) => ({
  id,
  tokenHash: hash("sha256", id, "hex"),
  clientId: id as ClientId,
  name: id,
  scope: "operator" as const,
  createdAt: 0,
  lastSeenAt: undefined,
});
const signIn = (idHash: string, deviceId = "desk", seenAtMs = home.clock.now()): PageSession => ({
  id: `id of ${idHash}`,
  idHash,
  deviceId,
  browser: "Firefox on Linux",
  isSecure: idHash === "a",
  createdAtMs: 1,
  seenAtMs,
});
const ids = () => store.pageSessions.all().map(({ idHash }) => idHash);
const DAY_MS = 86_400_000;
const KEEP_ALL = { sessionDays: 0, maxSessions: 0, toolCallDays: 30, messageDays: 30 };

test("what is added is there after a crash, as it was; what is removed is not", async () => {
  await store.devices.add(device("desk"));
  await store.pageSessions.add(signIn("a"));
  await store.pageSessions.add(signIn("b"));
  await store.pageSessions.remove("b");
  crash();
  expect(store.pageSessions.all()).toEqual([signIn("a")]);
});

test("they go with their device, whoever removes it, and others stay", async () => {
  for (const id of ["desk", "phone"]) await store.devices.add(device(id));
  for (const [id, of] of [
    ["a", "desk"],
    ["b", "desk"],
    ["c", "phone"],
  ] as const) {
    await store.pageSessions.add(signIn(id, of));
  }
  await store.devices.remove("desk");
  expect(ids()).toEqual(["c"]);
  reopen();
  expect(ids()).toEqual(["c"]);
});

test("none is kept of a device that is gone already", async () => {
  await expect(store.pageSessions.add(signIn("a", "nobody"))).rejects.toMatchObject({ code: "STORE_FAILED" });
  expect(ids()).toEqual([]);
});

test("a use is written at most once a minute, and again after the clock was set back", async () => {
  await store.devices.add(device("desk"));
  await store.pageSessions.add(signIn("a"));
  const from = home.clock.now();
  const written = async (atMs: number) => {
    store.pageSessions.touch("a", atMs);
    await store.write(() => {});
    return store.pageSessions.all()[0]!.seenAtMs - from;
  };
  expect(await written(from + 59_999)).toBe(0);
  expect(await written(from + 60_000)).toBe(60_000);
  expect(await written(from + 119_999)).toBe(60_000);
  expect(await written(from - 3_600_000)).toBe(-3_600_000);
  reopen();
  expect(await written(from - 3_599_999)).toBe(-3_599_999);
});

test("a use of one that was removed brings nothing back", async () => {
  await store.devices.add(device("desk"));
  await store.pageSessions.add(signIn("a"));
  const removed = store.pageSessions.remove("a");
  store.pageSessions.touch("a", home.clock.now() + 60_000);
  await removed;
  await store.write(() => {});
  expect(ids()).toEqual([]);
});

test("those that nobody comes back to go with what is too old; those in use stay", async () => {
  await store.devices.add(device("desk"));
  const now = home.clock.now();
  await Promise.all(Array.from({ length: 600 }, (_, n) => store.pageSessions.add(signIn(`old ${n}`, "desk", 1))));
  await store.pageSessions.add(signIn("idle", "desk", now - 90 * DAY_MS - 60_001));
  await store.pageSessions.add(signIn("in use", "desk", now - 90 * DAY_MS + 1));
  await store.prune(KEEP_ALL, now);
  expect(ids()).toHaveLength(602);
  await store.prune({ ...KEEP_ALL, pageSessionDays: 90 }, now);
  expect(ids()).toEqual(["in use"]);
});

test("a backup holds the devices and none of the sign-ins, in whichever way it is made", async () => {
  await store.devices.add(device("desk"));
  await store.pageSessions.add(signIn("a"));
  const files = ["live.db", "closed.db"].map((name) => join(home.folder, name));
  await store.backupTo(files[0]!);
  await copyDatabase(home.file, files[1]!);
  expect(ids()).toEqual(["a"]);
  for (const file of files) {
    const copy = openStore({ file, clock: home.clock, idempotency: { ttlMs: 1, maxKeys: 1 } });
    expect([copy.devices.all().length, copy.pageSessions.all()]).toEqual([1, []]);
    copy.close();
  }
});
