// A connection that is open for months must not grow: 24 hours of events and pings, on a clock of the test's own.
import type { Inbound } from "@svc/contract";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { NOW_MS, PERSON, withPlatform } from "./fixture.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const DAY_MS = 86_400_000;
/** Between events; the connection is pinged every two minutes. */
const SAID_EVERY_MS = 30_000;
const MIB = 1_048_576;
/** The fake platform remembers what was acknowledged: about a kilobyte each. */
const MOST_GROWTH_MIB = 24;

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
};

test("24 hours on the long connection keep nothing that grows with them", async () => {
  let received = 0;
  const receive = async (messages: readonly Inbound[]) => {
    received += messages.length;
    return messages.map(() => "kept" as const);
  };
  await using made = await withPlatform({}, { receive });
  const { workchat, context } = made;
  workchat.socket.pingSeconds = 120;
  const stop = new AbortController();
  const over = made.made.run!(stop.signal);
  await workchat.socket.opened(1);
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed / MIB;
  };
  const marks: number[] = [];
  const total = Math.floor((DAY_MS * 13) / 12 / SAID_EVERY_MS);
  for (let said = 1; said <= total; said += 1) {
    workchat.write({ id: `m${said}`, from: PERSON, text: `message ${said}`, atMs: NOW_MS + said });
    await until(() => workchat.socket.acknowledged.length === said);
    await context.clock.advance(SAID_EVERY_MS);
    // An answer to each ping is under way: the connection must not look silent for it.
    if (said % 4 === 0) await until(() => workchat.socket.pings > said / 4 - 1);
    if (said === Math.floor(total / 13) || said === total) marks.push(heap());
  }
  const [before = 0, after = 0] = marks;
  console.log(
    `${received} events, ${workchat.socket.pings} pings: heap ${before.toFixed(1)} MiB, then ${after.toFixed(1)} MiB`,
  );
  expect(received).toBe(total);
  expect(workchat.socket.connections).toBe(1);
  expect(workchat.socket.faults).toEqual([]);
  expect(after - before).toBeLessThan(MOST_GROWTH_MIB);
  stop.abort();
  await over;
});
