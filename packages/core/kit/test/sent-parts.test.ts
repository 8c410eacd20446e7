// A text that arrives again because its file failed, or because the process was killed before the file went, is a reply
// that somebody reads twice.
import type { StateStore } from "@svc/contract";
import { expect, test } from "vitest";
import { sentPartsIn } from "../src/index.ts";

function memoryState(initial: Readonly<Record<string, string>> = {}): StateStore {
  const kept = new Map(Object.entries(initial));
  return {
    get: async (name) => kept.get(name),
    set: async (name, value) => void kept.set(name, value),
    delete: async (name) => kept.delete(name),
    list: async () => [...kept.keys()],
  };
}

test("what was sent of a delivery is known to the next process, and of no other delivery", async () => {
  const state = memoryState();
  const before = await sentPartsIn({ state })("d-1");
  expect([before.has("text"), before.platformId]).toEqual([false, undefined]);
  await before.add("text", undefined);
  await before.add("file 0", "p-1");
  await before.add("file 1", "p-2");

  const after = sentPartsIn({ state });
  const resumed = await after("d-1");
  expect(["text", "file 0", "file 1", "file 2"].map(resumed.has)).toEqual([true, true, true, false]);
  expect(resumed.platformId).toBe("p-1");
  expect((await after("d-2")).has("text")).toBe(false);
});

test("two that go out side by side do not lose each other; what has ended is forgotten", async () => {
  const state = memoryState();
  const parts = sentPartsIn({ state });
  const [one, two] = await Promise.all([parts("d-1"), parts("d-2")]);
  await Promise.all([one.add("text", "p-1"), two.add("text", "p-2")]);
  one.end();
  const after = sentPartsIn({ state });
  expect([(await after("d-1")).has("text"), (await after("d-2")).has("text")]).toEqual([false, true]);
});

test("of those that were given up only the newest thousand are remembered", async () => {
  const state = memoryState();
  const parts = sentPartsIn({ state });
  for (let count = 0; count < 1002; count += 1) await (await parts(`d-${count}`)).add("text", undefined);
  const known = await Promise.all(["d-0", "d-1", "d-2", "d-1001"].map(sentPartsIn({ state })));
  expect(known.map((one) => one.has("text"))).toEqual([false, false, true, true]);
});

test("a full disk is no reason to send it again", async () => {
  const full = () => Promise.reject(new Error("full"));
  const parts = sentPartsIn({ state: { ...memoryState(), set: full } });
  await (await parts("d-1")).add("text", "p-1");
  const again = await parts("d-1");
  expect([again.has("text"), again.platformId]).toEqual([true, "p-1"]);
  again.end();
  expect((await parts("d-1")).has("text")).toBe(false);
});

test.each(["", "no json", "{}", "null"])("what is kept and can't be read (%j) is nothing", async (text) => {
  const parts = sentPartsIn({ state: memoryState({ "sent-parts": text }) });
  expect((await parts("d-1")).has("text")).toBe(false);
});

test("a disk that could not be read once is read again", async () => {
  let isDown = true;
  const { get, ...state } = memoryState({ "sent-parts": '[["d-1",{"parts":["text"]}]]' });
  const flaky = { ...state, get: (name: string) => (isDown ? Promise.reject(new Error("locked")) : get(name)) };
  const parts = sentPartsIn({ state: flaky });
  await expect(parts("d-1")).rejects.toThrow("locked");
  isDown = false;
  expect((await parts("d-1")).has("text")).toBe(true);
});
