// What a person allowed in a conversation: for one speaker and one agent, over a crash, and no longer than the conversation.
import type { ClientId } from "@svc/contract";
import { expect, test } from "vitest";
import { crash, reopen, store, storeForEachTest } from "./each-test.ts";
import { speak } from "./fixture.ts";

storeForEachTest();

const place = (change: object = {}) => ({
  owner: "cl" as ClientId,
  name: "room",
  sender: "alice",
  agent: "default",
  ...change,
});
const allow = (change: object = {}) =>
  store.write(() => store.grants.add({ ...place(change), key: "k", text: "shell: ls", approval: 1, atMs: 5 }));

test("holds for its owner, conversation, speaker, agent and call only, and over a crash", async () => {
  await allow();
  for (const change of [
    { owner: "other" },
    { name: "room2" },
    { sender: "bob" },
    { sender: "" },
    { sender: "Alice" },
    { agent: "clerk" },
  ]) {
    expect(store.grants.has(place(change), "k")).toBe(false);
  }
  expect(store.grants.has(place(), "K")).toBe(false);
  expect(store.grants.has(place(), "k")).toBe(true);
  await crash();
  reopen();
  expect(store.grants.has(place(), "k")).toBe(true);
});

test("ends with the conversation: deleted, begun anew, or nothing of it kept for long", async () => {
  for (const end of ["remove", "putAside", "end"] as const) {
    const { session } = await speak(store, `s-${end}`, 1);
    const found = store.sessions.list({}, 10).find(({ name, id }) => name === `s-${end}` || id === `s-${end}`)!;
    const here = { owner: found.clientId, name: found.name };
    await allow(here);
    await allow({ ...here, sender: "bob" });
    expect(session).toBeGreaterThan(0);
    await store.write(() => {
      if (end === "remove") store.sessions.remove(found.id);
      else if (end === "putAside") store.sessions.putAside(found.clientId, found.name);
      else store.grants.end(found.clientId, found.name);
    });
    expect(store.grants.list(found.clientId, found.name)).toEqual([]);
  }
  await allow({ name: "never kept" });
  expect(await store.write(() => store.grants.dropOld(5, 10))).toBe(0);
  expect(await store.write(() => store.grants.dropOld(6, 10))).toBe(1);
});
