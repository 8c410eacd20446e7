// Who writes faster than the platform allows is shut out for a while, and everybody waits: we must not get there, and must keep
// away when we did.
import { cases } from "@svc/cases";
import type { Clock } from "@svc/contract";
import { fakeClock, type FakeClock } from "@svc/testkit/fake-clock";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPacing, GROUP_DRAFT_MS } from "../src/bot-api.ts";
import { ADA, failure, FORUM, GROUP, fixtureAndPlatform, message, never, NOW_MS } from "./fixture.ts";

const PERSON = 5;
const ROOM = -5;

/** Sends one after the other; resolves with the times at which each had its turn. */
async function turns(count: number, chat: (index: number) => number, clock: FakeClock): Promise<number[]> {
  const pacing = createPacing(clock);
  const atMs: number[] = [];
  const work = (async () => {
    for (let index = 0; index < count; index += 1) {
      await pacing.turn(chat(index), never);
      atMs.push(clock.monotonic());
    }
  })();
  while (atMs.length < count) await clock.advance(50);
  await work;
  return atMs;
}

const mostWithin = (atMs: readonly number[], windowMs: number): number =>
  Math.max(...atMs.map((from) => atMs.filter((one) => one >= from && one < from + windowMs).length));

describe("messages", () => {
  test("to a group are at most twenty in any minute", async () => {
    expect(mostWithin(await turns(60, () => ROOM, fakeClock()), 60_000)).toBeLessThanOrEqual(20);
  });

  test("to one person come in bursts, and one a second after that", async () => {
    const atMs = await turns(60, () => PERSON, fakeClock());
    expect(atMs.slice(0, 10).every((one) => one < 1_000)).toBe(true);
    expect((atMs.at(-1) as number) - (atMs[29] as number)).toBeGreaterThanOrEqual(29_900);
  });

  test("to all are at most thirty in any second", async () => {
    const atMs = await turns(300, (index) => index + 1, fakeClock());
    expect(mostWithin(atMs, 1_000)).toBeLessThanOrEqual(30);
  });

  test("whatever their chats, never break a limit of the platform", async () => {
    const chats = fc.array(fc.constantFrom(ROOM, ROOM - 1, PERSON, PERSON + 1), { minLength: 1, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(chats, async (order) => {
        const atMs = await turns(order.length, (index) => order[index] as number, fakeClock());
        for (const room of [ROOM, ROOM - 1]) {
          expect(
            mostWithin(
              atMs.filter((_, index) => order[index] === room),
              60_000,
            ),
          ).toBeLessThanOrEqual(20);
        }
        expect(mostWithin(atMs, 1_000)).toBeLessThanOrEqual(30);
      }),
      { numRuns: cases(20) },
    );
  });

  test("that would wait for long are to come again instead", async () => {
    const clock = fakeClock();
    const pacing = createPacing(clock);
    const waiting = Array.from({ length: 30 }, () => pacing.turn(ROOM, never).then(() => "sent", failureOf));
    await clock.advance(60_000);
    const outcomes = await Promise.all(waiting);
    expect(outcomes.filter((one) => one === "sent").length).toBeLessThanOrEqual(8);
    expect(outcomes.at(-1)).toMatchObject({ code: "DELIVERY_FAILED", retryAfterMs: expect.any(Number) });
  });

  test("and edits are counted together in a group, and edits wait for nobody", async () => {
    const clock = fakeClock();
    const pacing = createPacing(clock);
    for (let edit = 0; edit < 5; edit += 1) pacing.edit(ROOM);
    expect(() => pacing.edit(ROOM)).toThrow(expect.objectContaining({ code: "DELIVERY_FAILED", retryAfterMs: 4_000 }));
    let isSent = false;
    const sending = pacing.turn(ROOM, never).then(() => (isSent = true));
    await clock.advance(3_999);
    expect(isSent).toBe(false);
    await clock.advance(1);
    await sending;
    for (let edit = 0; edit < 100; edit += 1) pacing.edit(PERSON);
  });

  test("that wait end when they are called off", async () => {
    const clock = fakeClock();
    const pacing = createPacing(clock);
    for (let turn = 0; turn < 5; turn += 1) await pacing.turn(ROOM, never);
    const caller = new AbortController();
    const waiting = pacing.turn(ROOM, caller.signal);
    caller.abort(new Error("called off"));
    await expect(waiting).rejects.toThrow("called off");
    expect(clock.waiting).toBe(0);
  });
});

const failureOf = (error: unknown): unknown => error;

describe("against the platform's own limits", () => {
  test("an answer of fifty parts arrives whole, without a single refusal", async () => {
    const clock = fakeClock(NOW_MS);
    await using at = await fixtureAndPlatform({}, { clock, given: { clock } });
    for (const [chat, count] of [
      [GROUP.id, 40],
      [Number(ADA), 60],
    ] as const) {
      for (let part = 0; part < count; part += 1) {
        const conversation = { channel: "telegram", id: String(chat) };
        const sending = at.channel.send(
          message(`Part ${part}`, { conversation, deliveryId: `${chat} ${part}` }),
          never,
        );
        const course = { isOver: false };
        const over = sending.finally(() => (course.isOver = true));
        while (!course.isOver) await tick(clock);
        await over;
      }
    }
    expect(at.platform.sent).toHaveLength(100);
    expect(at.platform.requests).toHaveLength(100);
  });

  test("an answer that is written in a group for ten minutes is never refused", async () => {
    const clock = fakeClock(NOW_MS);
    await using at = await fixtureAndPlatform({}, { clock, given: { clock } });
    const conversation = { channel: "telegram", id: String(GROUP.id) };
    const { platformId = "" } = await at.channel.send(message("…", { conversation }), never);
    const intervalMs = at.channel.drafts.intervalMs(conversation);
    expect(intervalMs).toBe(GROUP_DRAFT_MS);
    for (let edit = 0; edit < 120; edit += 1) {
      await clock.advance(intervalMs);
      await at.channel.drafts.edit({ conversation, platformId }, `Text ${edit}`, never);
    }
    expect(at.platform.sent[0]?.edits).toBe(120);
  });

  test("topics share what their group may", async () => {
    const clock = fakeClock(NOW_MS);
    await using at = await fixtureAndPlatform({}, { clock, given: { clock } });
    const in12 = { channel: "telegram", id: String(FORUM.id), thread: "12" };
    const { platformId = "" } = await at.channel.send(message("…", { conversation: in12 }), never);
    for (let part = 0; part < 4; part += 1) {
      const conversation = { ...in12, thread: "40" };
      await at.channel.send(message("x", { conversation, deliveryId: `d${part}` }), never);
    }
    const edit = at.channel.drafts.edit({ conversation: in12, platformId }, "more", never);
    expect(await failure(edit)).toMatchObject({ code: "DELIVERY_FAILED", retryAfterMs: 4_000 });
    expect(at.platform.requests).toHaveLength(5);
  });
});

async function tick(clock: Clock): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await (clock as FakeClock).advance(100);
}

test("who is told to wait does not ask before, and others are not held up by it", async () => {
  const clock = fakeClock(NOW_MS);
  await using at = await fixtureAndPlatform({}, { given: { clock } });
  const parameters = { retry_after: 7 };
  at.platform.failNext("sendMessage", [{ code: 429, description: "Too Many Requests: retry after 7", parameters }]);
  expect(await failure(at.channel.send(message("a"), never))).toMatchObject({
    code: "DELIVERY_FAILED",
    retryAfterMs: 7_000,
  });
  await clock.advance(5_000);
  expect(await failure(at.channel.send(message("a"), never))).toMatchObject({ retryAfterMs: 2_000 });
  expect(at.platform.requests).toHaveLength(1);
  await at.channel.send(message("b", { conversation: { channel: "telegram", id: String(GROUP.id) } }), never);
  await clock.advance(2_000);
  await at.channel.send(message("a"), never);
  expect(at.platform.sent.map(({ text }) => text)).toEqual(["b", "a"]);
});
