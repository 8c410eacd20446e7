// Time in a turn: its limit, cancelling it, people who are waited for, and providers who ask to be left alone.
import { halfOfEachWait } from "@svc/testkit/half-of-each-wait";
import { describe, expect, test } from "vitest";
import { act, ask, call, failure, hang, agentFixture, scripted, text, until } from "./agent-fixture.ts";
import { SvcError } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { LimitTimer, TimeLimit } from "../src/turn/active-turns.ts";

describe("the time limit", () => {
  test("a turn past its limit is 504", async () => {
    const { agent, clock } = agentFixture({ model: scripted(hang) });
    const outcome = failure(ask(agent, "go"));
    await clock.advance(299_999);
    expect(agent.load().running).toBe(1);
    await clock.advance(1);
    expect(await outcome).toMatchObject({ code: "TURN_TIMEOUT", status: 504 });
    expect(clock.waiting).toBe(0);
  });

  test("a cancelled turn ends at once", async () => {
    const { agent, clock } = agentFixture({ model: scripted(hang) });
    const cancel = new AbortController();
    const outcome = failure(ask(agent, "go", { signal: cancel.signal }));
    await clock.advance(1);
    cancel.abort();
    expect(await outcome).toMatchObject({ code: "TURN_CANCELLED" });
    expect(clock.waiting).toBe(0);
  });
});

describe("people", () => {
  test("waiting for one does not count", async () => {
    const model = scripted([call("act")], [text("did it")]);
    const { agent, clock } = agentFixture({ model, tools: [act], verdict: "ask" });
    const { promise, resolve } = Promise.withResolvers<{ approved: boolean }>();
    let isAsked = false;
    const turn = ask(agent, "go", { ask: () => ((isAsked = true), promise) });
    await until(() => isAsked);
    await clock.advance(299_000);
    resolve({ approved: true });
    await clock.advance(200_000);
    expect(await turn).toMatchObject({ response: "did it" });
  });

  test("nobody answers: refused, and the turn goes on", async () => {
    const model = scripted([call("act")], [text("never mind")]);
    const { agent, clock } = agentFixture({ model, tools: [act], verdict: "ask" });
    let isAsked = false;
    const turn = ask(agent, "go", { ask: () => ((isAsked = true), new Promise(() => {})) });
    await until(() => isAsked);
    await clock.advance(300_000);
    expect(await turn).toMatchObject({ response: "never mind" });
    expect(JSON.stringify(model.asked[1]!.prompt.at(-1))).toContain("no answer in time");
  });

  test("nobody can be asked: refused with a sentence", async () => {
    const model = scripted([call("act")], [text("ok")]);
    await ask(agentFixture({ model, tools: [act], verdict: "ask" }).agent, "go");
    expect(JSON.stringify(model.asked[1]!.prompt.at(-1))).toContain("Nobody can be asked here");
  });
});

describe("a provider that is busy", () => {
  const busy = (headers: Record<string, string>) =>
    Object.assign(new Error("busy"), { statusCode: 429, isRetryable: true, responseHeaders: headers });

  test.each([
    ["seconds", { "retry-after": "7" }, 7000],
    ["a date", { "retry-after": "Thu, 01 Jan 2026 00:00:07 GMT" }, 7000],
    ["milliseconds, which go first", { "retry-after": "9", "retry-after-ms": "1500" }, 1500],
  ])("is asked again after as long as it says: %s", async (_, headers, waitMs) => {
    const model = scripted(busy(headers), [text("now")]);
    const { agent, clock } = agentFixture({ model });
    const turn = ask(agent, "go");
    await clock.advance(waitMs - 1);
    expect(model.asked).toHaveLength(1);
    await clock.advance(1);
    expect(await turn).toMatchObject({ response: "now" });
  });

  test("until a moment that is over is asked again at once", async () => {
    const { agent, clock } = agentFixture({ model: scripted(busy({ "retry-after": "-3" }), [text("now")]) });
    const turn = ask(agent, "go");
    await clock.advance(0);
    expect(await turn).toMatchObject({ response: "now" });
  });

  test("for longer than a minute is not waited for; the caller is told how long", async () => {
    const { agent } = agentFixture({ model: scripted(busy({ "retry-after": "61" })) });
    expect(await failure(ask(agent, "go"))).toMatchObject({ code: "MODEL_REFUSED", retryAfterMs: 61_000 });
  });

  test("and says nothing of how long is asked again after at most half a second, then after at most twice that", async () => {
    using _ = halfOfEachWait();
    const model = scripted(busy({}), busy({ "retry-after": "soon" }), [text("now")]);
    const { agent, clock } = agentFixture({ model });
    const turn = ask(agent, "go");
    await clock.advance(249);
    expect(model.asked).toHaveLength(1);
    await clock.advance(1);
    expect(model.asked).toHaveLength(2);
    await clock.advance(499);
    expect(model.asked).toHaveLength(2);
    await clock.advance(1);
    expect(await turn).toMatchObject({ response: "now" });
  });

  test("a turn that waits for it can be cancelled", async () => {
    const { agent, clock } = agentFixture({ model: scripted(busy({ "retry-after": "60" })) });
    const cancel = new AbortController();
    const outcome = failure(ask(agent, "go", { signal: cancel.signal }));
    await clock.advance(1000);
    cancel.abort();
    expect(await outcome).toMatchObject({ code: "TURN_CANCELLED" });
    expect(clock.waiting).toBe(0);
  });
});

describe("one timer for the limits of all turns", () => {
  const never = new AbortController().signal;
  const limits = (count: number) => {
    const clock = fakeClock();
    const timer = new LimitTimer(clock);
    return { clock, limits: Array.from({ length: count }, () => new TimeLimit(timer, never)) };
  };
  const over = (all: readonly TimeLimit[]) => all.map(({ isOver }) => isOver);

  test("ends each at its own time, in whatever order they began", async () => {
    const { clock, limits: all } = limits(4);
    for (const [index, ms] of [300, 100, 200, 100].entries()) all[index]!.start(ms);
    expect(clock.waiting).toBe(1);
    const seen = [];
    for (const ms of [99, 1, 99, 1, 100]) {
      await clock.advance(ms);
      seen.push(over(all).map(Number).join(""));
    }
    expect(seen).toEqual(["0000", "0101", "0101", "0111", "1111"]);
    expect(clock.waiting).toBe(0);
  });

  test("forgets those that end, and waits for the others", async () => {
    const { clock, limits: all } = limits(3);
    for (const limit of all) limit.start(100);
    all[0]!.end();
    await clock.advance(100);
    expect(over(all)).toEqual([false, true, true]);
    all[0]!.start(50);
    all[0]!.end();
    expect(clock.waiting).toBe(0);
  });

  test("does not run while a turn waits for a person", async () => {
    const { clock, limits: all } = limits(2);
    for (const limit of all) limit.start(100);
    await clock.advance(60);
    const answered = Promise.withResolvers<void>();
    const waited = all[0]!.paused(() => answered.promise);
    await clock.advance(60);
    expect(over(all)).toEqual([false, true]);
    answered.resolve();
    await waited;
    await clock.advance(39);
    expect(all[0]!.isOver).toBe(false);
    await clock.advance(1);
    expect(all[0]!.signal.aborted).toBe(true);
    expect(all[0]!.reason).toMatchObject({ code: "TURN_TIMEOUT" });
  });

  test("a signal that is made too late is aborted, for the first reason", () => {
    const { limits: all } = limits(1);
    all[0]!.stop(new SvcError("TURN_CANCELLED", "first"));
    all[0]!.stop(new SvcError("TURN_CANCELLED", "second"));
    expect(all[0]!.signal.reason).toMatchObject({ message: "first" });
    expect(() => all[0]!.throwIfOver()).toThrow("first");
  });
});
