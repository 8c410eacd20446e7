// One message of a conversation, one command of a device, one change of a file at a time: an overtaken or lost turn loses data.
import { expect, test } from "vitest";
import { KeyedQueue, Semaphore } from "../../src/async/index.ts";

/** Work that the test ends by hand. */
function step(log: string[], name: string) {
  const end = Promise.withResolvers<void>();
  const work = async (): Promise<string> => {
    log.push(`${name} begins`);
    await end.promise;
    log.push(`${name} ends`);
    return name;
  };
  return { work, end: end.resolve };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("runs at most as many as there are permits, the others in their order", async () => {
  const log: string[] = [];
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => step(log, name));
  const semaphore = new Semaphore(2);
  const runs = [a, b, c, d].map((one) => semaphore.run(one!.work));
  await settled();
  expect(log).toEqual(["a begins", "b begins"]);
  b!.end();
  await settled();
  expect(log.slice(2)).toEqual(["b ends", "c begins"]);
  for (const one of [a, c, d]) one!.end();
  expect(await Promise.all(runs)).toEqual(["a", "b", "c", "d"]);
});

test("a failure ends its own turn only", async () => {
  const lock = new Semaphore(1);
  const failing = lock.run(() => {
    throw new Error("broken");
  });
  await expect(failing).rejects.toThrow("broken");
  expect(await lock.run(() => "next")).toBe("next");
});

test("who gives up waiting loses its turn, not that of those behind it", async () => {
  const log: string[] = [];
  const [a, b, c] = ["a", "b", "c"].map((name) => step(log, name));
  const lock = new Semaphore(1);
  const caller = new AbortController();
  const first = lock.run(a!.work);
  const second = lock.run(b!.work, caller.signal);
  const third = lock.run(c!.work);
  caller.abort(new Error("called off"));
  await expect(second).rejects.toThrow("called off");
  a!.end();
  c!.end();
  await Promise.all([first, third]);
  expect(log).toEqual(["a begins", "a ends", "c begins", "c ends"]);
});

test("a permit that comes together with the abort goes to the next one", async () => {
  const lock = new Semaphore(1);
  const held = await lock.acquire();
  const caller = new AbortController();
  const second = lock.acquire(caller.signal);
  const third = lock.acquire();
  caller.abort(new Error("called off"));
  held.release();
  held.release();
  await expect(second).rejects.toThrow("called off");
  (await third).release();
  expect(await lock.run(() => "free")).toBe("free");
});

test("work that was given up keeps its permit until it ends", async () => {
  const log: string[] = [];
  const [a, b] = ["a", "b"].map((name) => step(log, name));
  const lock = new Semaphore(1);
  const caller = new AbortController();
  const first = lock.run(a!.work, caller.signal);
  const second = lock.run(b!.work);
  await settled();
  caller.abort(new Error("called off"));
  await expect(first).rejects.toThrow("called off");
  await settled();
  expect(log).toEqual(["a begins"]);
  a!.end();
  b!.end();
  expect(await second).toBe("b");
});

test("keeps the order of a key, and runs several keys side by side", async () => {
  const log: string[] = [];
  const [a, b, c] = ["a", "b", "c"].map((name) => step(log, name));
  const queue = new KeyedQueue<string>();
  const caller = new AbortController();
  const runs = [queue.run("one", a!.work, caller.signal), queue.run("one", b!.work), queue.run("two", c!.work)];
  await settled();
  expect(log).toEqual(["a begins", "c begins"]);
  expect(queue.size).toBe(2);
  // The caller of a gives up; b still waits for it.
  caller.abort(new Error("called off"));
  await expect(runs[0]).rejects.toThrow("called off");
  await settled();
  expect(log).toEqual(["a begins", "c begins"]);
  for (const one of [a, b, c]) one!.end();
  expect(await Promise.all(runs.slice(1))).toEqual(["b", "c"]);
  expect(queue.size).toBe(0);
});

test("runs as many of a key as it has permits, and counts those that wait with them", async () => {
  const log: string[] = [];
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => step(log, name));
  const queue = new KeyedQueue<string>(2);
  const runs = [a, b, c].map((one) => queue.run("one", one!.work));
  runs.push(queue.run("two", d!.work));
  await settled();
  expect(log).toEqual(["a begins", "b begins", "d begins"]);
  expect([queue.count("one"), queue.count("two"), queue.count("three")]).toEqual([3, 1, 0]);
  for (const one of [b, a, c, d]) one!.end();
  await Promise.all(runs);
  expect([queue.count("one"), queue.size]).toEqual([0, 0]);
});

test("forgets the key of work that was given up while it waited", async () => {
  const queue = new KeyedQueue<number>();
  const [a] = [step([], "a")];
  const caller = new AbortController();
  const first = queue.run(1, a!.work);
  const second = queue.run(1, () => "never", caller.signal);
  caller.abort(new Error("called off"));
  await expect(second).rejects.toThrow("called off");
  a!.end();
  await first;
  expect(queue.size).toBe(0);
});
