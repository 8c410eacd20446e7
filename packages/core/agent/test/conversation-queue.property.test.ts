// Order over conversations that wait, are held and lose messages: a message that is passed, begun twice, or forgotten with its queue.
import type { WaitingMessage } from "@svc/store";
import { fakeClock, settled } from "@svc/testkit/fake-clock";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Attempted, ConversationQueue, type Run } from "../src/conversation-queue.ts";

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("add" as const), key: fc.nat(3), crashes: fc.nat(3) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("end" as const, "retry" as const), which: fc.nat(5) }) },
  fc.record({ do: fc.constant("take" as const), n: fc.nat(20) }),
  fc.record({ do: fc.constant("hold" as const), key: fc.nat(3), for: fc.nat(4) }),
  fc.record({ do: fc.constant("resize" as const), to: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant("switch" as const), channel: fc.nat(1) }),
  fc.record({ do: fc.constant("time" as const), ms: fc.constantFrom(10, 1_000, 5_000) }),
);

/** Conversations begin a turn of the event loop later. */
const quiet = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn += 1) await settled();
};

const isSuspect = ({ crashes = 0 }: WaitingMessage): boolean => crashes >= 2;

const isEqual = (got: number, expected: number): void => expect(got).toBe(expected);

describe("the conversation queue", () => {
  test("runs all messages in order, one of a conversation at a time, within the limit, whatever happens", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = fakeClock();
        const running = new Map<number, { message: WaitingMessage; end: (attempted: Attempted) => void }>();
        const begun: number[] = [];
        const isDown = new Set<string>();
        const holds = new Map<string, number>();
        const hold = (key: string, channel: string): (() => void) => {
          const release = queue.hold({ conversationKey: key, channel });
          holds.set(key, (holds.get(key) ?? 0) + 1);
          return () => {
            holds.set(key, holds.get(key)! - 1);
            release();
          };
        };
        let limit = 2;
        const queue = new ConversationQueue<WaitingMessage>({
          clock,
          maxParallel: limit,
          canBegin: (channel) => !isDown.has(channel),
          begins: "soon",
          begin: (message, run) => {
            expect(
              [...running.values()].some((other) => other.message.conversationKey === message.conversationKey),
            ).toBe(false);
            expect(isDown.has(message.channel)).toBe(false);
            expect(running.size).toBeLessThan(limit);
            expect(isSuspect(message) && [...running.values()].some((other) => isSuspect(other.message))).toBe(false);
            expect(holds.get(message.conversationKey) ?? 0).toBe(0);
            begun.push(message.n);
            running.set(message.n, { message, end: (attempted) => run.end(attempted) });
          },
        });
        queue.start();
        const left = new Map<number, string>();
        const releases: { at: number; release: () => void }[] = [];
        let n = 0;
        const finish = (which: number, attempted: Attempted): void => {
          const [one] = [...running.values()].slice(which % (running.size || 1));
          if (!one) return;
          // Nothing before it in its conversation is left.
          const sameConversation = [...left]
            .filter(([, name]) => name === one.message.conversationKey)
            .map(([number]) => number);
          expect(Math.min(...sameConversation)).toBe(one.message.n);
          running.delete(one.message.n);
          if (attempted === "over") left.delete(one.message.n);
          one.end(attempted);
        };
        for (const [at, each] of steps.entries()) {
          if (each.do === "add") {
            const message: WaitingMessage = {
              n: ++n,
              conversationKey: `l${each.key}`,
              channel: `c${each.key % 2}`,
              kind: "message",
              crashes: each.crashes,
            };
            left.set(message.n, message.conversationKey);
            queue.add(message);
          } else if (each.do === "end") finish(each.which, "over");
          else if (each.do === "retry") finish(each.which, { retryDelayMs: 1_000 });
          else if (each.do === "take" && left.has(each.n)) {
            const taken = queue.take(left.get(each.n)!, (message) => message.n === each.n);
            isEqual(taken.length, running.has(each.n) ? 0 : 1);
            for (const message of taken) left.delete(message.n);
          } else if (each.do === "hold") {
            releases.push({ at: at + each.for, release: hold(`l${each.key}`, `c${each.key % 2}`) });
          } else if (each.do === "resize") {
            limit = Math.max(each.to, running.size);
            queue.resize(limit);
          } else if (each.do === "switch") {
            const channel = `c${each.channel}`;
            if (!isDown.delete(channel)) isDown.add(channel);
          } else if (each.do === "time") await clock.advance(each.ms);
          for (const due of releases.splice(0)) {
            if (at >= due.at) due.release();
            else releases.push(due);
          }
          await quiet();
          expect(queue.size).toBe(left.size);
        }
        isDown.clear();
        for (const { release } of releases) release();
        while (left.size > 0) {
          await clock.advance(1_000);
          await quiet();
          finish(0, "over");
          await quiet();
        }
        expect([queue.size, queue.all()]).toEqual([0, []]);
        queue.stop();
        await clock.advance(10_000);
        expect(clock.waiting).toBe(0);
      }),
      { numRuns: cases(300) },
    );
  });

  test("a conversation that lost all its messages while it was ready is used again when more come", async () => {
    const begun: WaitingMessage[] = [];
    const ends: ((attempted: Attempted) => void)[] = [];
    const begin = (message: WaitingMessage, run: Run): void => {
      begun.push(message);
      ends.push((attempted) => run.end(attempted));
    };
    const queue = new ConversationQueue<WaitingMessage>({
      clock: fakeClock(),
      maxParallel: 1,
      begins: "soon",
      begin,
    });
    const add = (n: number, conversationKey: string) =>
      queue.add({ n, conversationKey, channel: "c", kind: "message" });
    queue.start();
    add(1, "other");
    await quiet();
    add(2, "room");
    queue.take("room", () => true);
    add(3, "room");
    queue.resize(3);
    await quiet();
    add(4, "room");
    await quiet();
    expect(begun.map(({ n }) => n)).toEqual([1, 3]);
    for (const end of ends) end("over");
    await quiet();
    expect(begun.map(({ n }) => n)).toEqual([1, 3, 4]);
  });

  test("runs by number, and once more what is added again while it runs", async () => {
    const begun: number[] = [];
    const ends: ((attempted: Attempted) => void)[] = [];
    const begin = ({ n }: WaitingMessage, run: Run): void => {
      begun.push(n);
      ends.push((attempted) => run.end(attempted));
    };
    const clock = fakeClock();
    const queue = new ConversationQueue<WaitingMessage>({ clock, maxParallel: 1, begins: "soon", begin });
    const add = (n: number) => queue.add({ n, conversationKey: "room", channel: "c", kind: "message" });
    queue.start();
    add(5);
    await quiet();
    for (const n of [7, 5, 6, 3, 7]) add(n);
    expect(queue.size).toBe(5);
    const next = async (attempted: Attempted): Promise<void> => {
      ends.pop()!(attempted);
      await quiet();
      await clock.advance(1_000);
      await quiet();
    };
    // It waits already, so the retry adds nothing.
    await next({ retryDelayMs: 1_000 });
    expect([begun, queue.size]).toEqual([[5, 3], 4]);
    for (let left = 4; left > 0; left -= 1) await next("over");
    expect([begun, queue.size]).toEqual([[5, 3, 5, 6, 7], 0]);
  });

  test("gives each channel permits of its own where it is told to", async () => {
    const begun: string[] = [];
    const begin = ({ channel, conversationKey }: WaitingMessage) => void begun.push(`${channel} ${conversationKey}`);
    const queue = new ConversationQueue<WaitingMessage>({
      clock: fakeClock(),
      maxParallel: 2,
      permitsPer: "channel",
      begins: "soon",
      begin,
    });
    queue.start();
    for (const [n, conversationKey] of ["a", "b", "c"].entries()) {
      for (const [at, channel] of ["one", "two"].entries()) {
        queue.add({ n: 2 * n + at, conversationKey: `${conversationKey} ${channel}`, channel, kind: "message" });
      }
    }
    await quiet();
    expect(begun.toSorted()).toEqual(["one a one", "one b one", "two a two", "two b two"]);
  });
});
