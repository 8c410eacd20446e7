// Who may come in is asked while the service runs and while it does not, of files that may be damaged or somebody else's.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClientId } from "@svc/contract";
import { expect, test } from "vitest";
import { readPaired } from "../src/index.ts";
import { home, store, storeForEachTest } from "./each-test.ts";

storeForEachTest();

const device = (id: string, createdAt: number) => ({
  id,
  tokenHash: `hash of ${id}`,
  clientId: id as ClientId,
  name: `the ${id}`,
  scope: "read" as const,
  createdAt,
  lastSeenAt: undefined,
});

test("devices, sign-ins that have not ended, and how much features keep, beside the store that writes them", async () => {
  const oldestMs = 90 * 86_400_000;
  const [desk, phone] = [device("desk", 2), device("phone", 1)];
  for (const each of [desk, phone]) await store.devices.add(each);
  const signIn = { deviceId: "desk", browser: "Chrome", isSecure: true, createdAtMs: 1 };
  await store.pageSessions.add({ ...signIn, id: "1", idHash: "over", seenAtMs: oldestMs });
  await store.pageSessions.add({ ...signIn, id: "2", idHash: "open", seenAtMs: oldestMs + 1 });
  for (const name of ["a", "b"]) await store.vault.set("webauthn", name, () => "sealed");
  expect(readPaired(home.file, oldestMs)).toEqual({
    devices: [phone, desk],
    pageSessions: 1,
    secretCounts: new Map([["webauthn", 2]]),
  });
});

test("no file: nobody; one that is no database of ours: it can't be told", () => {
  expect(readPaired(join(home.folder, "none.db"), 0)).toEqual({
    devices: [],
    pageSessions: 0,
    secretCounts: new Map(),
  });
  const other = join(home.folder, "other.db");
  writeFileSync(other, "no database");
  expect(readPaired(other, 0)).toBeUndefined();
  writeFileSync(other, "");
  expect(readPaired(other, 0)).toBeUndefined();
});
