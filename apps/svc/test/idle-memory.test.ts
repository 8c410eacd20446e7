// Exists for the 150 MB that a daemon kept for ever after a storm of requests that was long over.
import { fakeClock } from "@svc/testkit/fake-clock";
import { describe, expect, test } from "vitest";
import { giveMemoryBack, type Memory, processMemory } from "../src/service/daemon/idle-memory.ts";

const MB = 1024 * 1024;

/** Its start is over, and what the start left is given back. */
async function machine() {
  const started = starting();
  await started.collectionsAfter(1);
  return started;
}

function starting() {
  const clock = fakeClock();
  const now = { heldMb: 20, busy: 0, collections: 0 };
  const memory: Memory = {
    held: () => now.heldMb * MB,
    busy: () => now.busy,
    collect: () => {
      now.collections += 1;
      now.heldMb = 22;
    },
  };
  const stop = giveMemoryBack(clock, memory);
  const collectionsAfter = async (seconds: number): Promise<number> => {
    const before = now.collections;
    await clock.advance(seconds * 1000);
    return now.collections - before;
  };
  return { now, stop, collectionsAfter };
}

describe("memory of the start", () => {
  test("is given back a second after the start, however little it is, and once only", async () => {
    const { collectionsAfter } = starting();
    expect(await collectionsAfter(0.9)).toBe(0);
    expect(await collectionsAfter(0.1)).toBe(1);
    expect(await collectionsAfter(60)).toBe(0);
  });

  test("waits while there is work, and is given back within a second of its end", async () => {
    const { now, collectionsAfter } = starting();
    now.busy = 0.6;
    expect(await collectionsAfter(5)).toBe(0);
    now.busy = 0;
    expect(await collectionsAfter(1)).toBe(1);
  });
});

describe("memory of a storm", () => {
  test("is given back once nothing is left to do, and once only", async () => {
    const { now, collectionsAfter } = await machine();
    now.heldMb = 100;
    now.busy = 0.6;
    expect(await collectionsAfter(60)).toBe(0);
    now.busy = 0.01;
    expect(await collectionsAfter(60)).toBe(1);
  });

  test("little is not worth the pause; what grows slowly is, in the end", async () => {
    const { now, collectionsAfter } = await machine();
    for (let mb = 20; mb <= 36; mb += 1) {
      now.heldMb = mb;
      expect(await collectionsAfter(10)).toBe(0);
    }
    now.heldMb = 37;
    expect(await collectionsAfter(10)).toBe(1);
  });

  test("after a smaller heap has been seen, growth is counted from there", async () => {
    const { now, collectionsAfter } = await machine();
    now.heldMb = 10;
    expect(await collectionsAfter(10)).toBe(0);
    now.heldMb = 30;
    expect(await collectionsAfter(10)).toBe(1);
  });

  test("nobody looks any more after the end", async () => {
    const { now, stop, collectionsAfter } = await machine();
    stop();
    now.heldMb = 100;
    expect(await collectionsAfter(60)).toBe(0);
  });
});

test("this process: garbage that V8 keeps is gone after a collection", async () => {
  const clock = fakeClock();
  const stop = giveMemoryBack(clock, { ...processMemory(), busy: () => 0 });
  const bag = { of: Array.from({ length: 600_000 }, (_, i) => ({ i })) };
  const full = process.memoryUsage().heapTotal;
  bag.of = [];
  await clock.advance(10_000);
  stop();
  expect(process.memoryUsage().heapTotal).toBeLessThan(full - 16 * MB);
  expect("gc" in globalThis).toBe(false);
});
