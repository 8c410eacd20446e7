// The index in a Megolm message, and what is remembered of it.
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { expect, test } from "vitest";
import { createReplays, messageIndex } from "../src/event-reader.ts";

const ciphertext = (index: number): string => {
  const bytes = [3, 8];
  for (let rest = index; ; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) + (rest >= 128 ? 128 : 0));
    if (rest < 128) break;
  }
  return Buffer.from([...bytes, 0x12, 16, ...Array.from({ length: 88 }, () => 7)]).toString("base64url");
};

test.each([0, 1, 127, 128, 300, 16_383, 16_384, 2 ** 32 - 1])("reads the index %i", (index) => {
  expect(messageIndex(ciphertext(index))).toBe(index);
});

test.each([undefined, 7, "", "Aw", "AwiAgICAgIA", "BAgAEg", "not base64 %%%"])("%j has no index", (text) => {
  expect(messageIndex(text)).toBeUndefined();
});

test("a place is the first event's, in its room and session, and what is stored has a bounded size", async () => {
  const state = memorySecrets();
  const event = (session: string, index: number, id: string) => ({
    event_id: id,
    content: { session_id: session, ciphertext: ciphertext(index) },
  });
  const replays = createReplays(state);
  expect(await replays.isReplay("!a", event("s", 5, "$1"))).toBe(false);
  expect(await replays.isReplay("!a", event("s", 5, "$1"))).toBe(false);
  expect(await replays.isReplay("!a", event("s", 5, "$2"))).toBe(true);
  expect(await replays.isReplay("!a", event("s", 6, "$2"))).toBe(false);
  expect(await replays.isReplay("!a", event("t", 5, "$3"))).toBe(false);
  expect(await replays.isReplay("!b", event("s", 5, "$4"))).toBe(false);
  for (let at = 0; at < 1_000; at += 1) await replays.isReplay("!c", event("long", at, `$long${at}`));
  for (const [name, text] of Object.entries(replays.unstored())) {
    expect(text.length).toBeLessThan(4_000);
    await state.set(name, text);
  }
  replays.stored();
  expect(replays.unstored()).toEqual({});
  const next = createReplays(state);
  expect(await next.isReplay("!a", event("s", 5, "$2"))).toBe(true);
  expect(await next.isReplay("!a", event("s", 5, "$1"))).toBe(false);
  for (let at = 0; at < 1_000; at += 1) expect(await next.isReplay("!c", event("long", at, "$other"))).toBe(true);
});

test("more sessions than are cached are remembered all the same", async () => {
  const replays = createReplays(memorySecrets());
  const event = (at: number, id: string) => ({
    event_id: id,
    content: { session_id: `session ${at}`, ciphertext: ciphertext(0) },
  });
  for (let at = 0; at < 500; at += 1) await replays.isReplay("!a", event(at, "$first"));
  for (let at = 0; at < 500; at += 1) expect(await replays.isReplay("!a", event(at, "$second"))).toBe(true);
  expect(Object.values(replays.unstored()).every((text) => text.length > 10)).toBe(true);
});
