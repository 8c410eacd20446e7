// Files of messages: one that is sent twice, is seen in another conversation, or stays for ever.
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ClientId } from "@svc/contract";
import type { SentFile, Store } from "../src/index.ts";
import { fixture, type Fixture, session, turn } from "./fixture.ts";

const ann = "ann" as ClientId;
const bob = "bob" as ClientId;

let home: Fixture;
let store: Store;
beforeEach(() => {
  home = fixture();
  store = home.open();
});
afterEach(() => {
  store.close();
  home[Symbol.dispose]();
});

const add = (id: string, owner = ann, at = 0) =>
  store.write(() => store.uploads.add({ id, owner, name: `${id}.png`, type: "image/png", size: 3, at }));

const placed = (id: string): SentFile => {
  const about = { name: `${id}.png`, type: "image/png", size: 3 };
  return { id, ...about, agent: "default", path: `media/${id}.png` };
};

const send = (id: string, name: string, turnId = `t-${id}`) =>
  store.write(() => store.uploads.send([placed(id)], { owner: ann, name, turnId }));

const speak = (name: string, id: string) =>
  store.write(() => store.sessions.append(session(name, "ann"), store.sessions.find(ann, name), turn(id)));

test("a file is sent once, and then is of one conversation", async () => {
  await add("a");
  await speak("work", "t-a");
  expect(store.uploads.countUnsent(ann)).toBe(1);
  await send("a", "work");
  expect([store.uploads.unsent("a"), store.uploads.countUnsent(ann)]).toEqual([undefined, 0]);
  expect(store.uploads.sent("a", ann, "work")).toEqual(placed("a"));
  expect([store.uploads.sent("a", bob, "work"), store.uploads.sent("a", ann, "home")]).toEqual([undefined, undefined]);
  await expect(send("a", "home")).rejects.toMatchObject({ code: "FILE_UNKNOWN" });
  expect(store.uploads.sent("a", ann, "work")).toEqual(placed("a"));
});

test("of a message that names one it can't have, none is sent", async () => {
  await add("a");
  const both = store.write(() =>
    store.uploads.send([placed("a"), placed("nope")], { owner: ann, name: "work", turnId: "t" }),
  );
  await expect(both).rejects.toMatchObject({ code: "FILE_UNKNOWN" });
  expect(store.uploads.unsent("a")).toMatchObject({ owner: ann });
});

test("those of a client are counted apart, and expire by their age", async () => {
  await add("a", ann, 1);
  await add("b", bob, 5);
  expect([store.uploads.countUnsent(ann), store.uploads.countUnsent(bob)]).toEqual([1, 1]);
  expect(store.uploads.expired(5, 9).map(({ id }) => id)).toEqual(["a"]);
  await store.write(() => store.uploads.remove(["a"]));
  expect([store.uploads.expired(6, 9).map(({ id }) => id), store.uploads.unsent("a")]).toEqual([["b"], undefined]);
});

test("files of a conversation follow its name, and are orphans when it is gone", async () => {
  await add("a");
  await speak("work", "t-a");
  await send("a", "work");
  await store.write(() => store.sessions.putAside(ann, "work"));
  expect(store.uploads.sent("a", ann, "work")).toBeUndefined();
  const [{ id, name } = { id: "", name: "" }] = store.sessions.list({}, 1);
  expect(store.uploads.sent("a", ann, name)).toEqual(placed("a"));
  expect(store.uploads.orphans(9)).toEqual([]);
  await store.write(() => store.sessions.remove(id));
  expect(store.uploads.sent("a", ann, name)).toBeUndefined();
  expect(store.uploads.orphans(9)).toEqual([placed("a")]);
});

test("files of a message that waits stay when its conversation is removed", async () => {
  await add("a");
  await speak("work", "t-0");
  const open = {
    turnId: "t-a",
    owner: ann,
    name: "work",
    sessionId: "x",
    agent: "default",
    at: 1,
    text: "",
    meta: undefined,
  };
  await store.write(() => store.openTurns.add(open));
  await send("a", "work");
  await store.write(() => store.sessions.remove("id-ann-work"));
  expect([store.uploads.orphans(9), store.uploads.sent("a", ann, "work")]).toEqual([[], placed("a")]);
  await store.write(() => store.openTurns.remove("t-a"));
  expect(store.uploads.orphans(9)).toEqual([placed("a")]);
});

test("retention leaves orphans, also where a new conversation has the name", async () => {
  await add("a");
  await speak("work", "t-a");
  await send("a", "work");
  const limits = { sessionDays: 1, maxSessions: 0, toolCallDays: 1, messageDays: 1 };
  await store.prune(limits, 10 * 86_400_000);
  await speak("work", "t-b");
  expect(store.uploads.sent("a", ann, "work")).toBeUndefined();
  expect(store.uploads.orphans(9)).toEqual([placed("a")]);
});

test("what was sent is sent after a kill, and what was not is not", async () => {
  await add("a");
  await add("b");
  await speak("work", "t-a");
  await send("a", "work");
  store = home.crash(store);
  expect(store.uploads.sent("a", ann, "work")).toEqual(placed("a"));
  expect(store.uploads.unsent("b")).toMatchObject({ owner: ann, name: "b.png" });
});
