// What one message is worked on for must not be told as another's: its lines of the log, its trace, its requests.
import { type Scope, currentScope, inScope } from "@svc/runtime";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { describe, expect, test } from "vitest";
import { BestEffortCalls } from "../src/presence.ts";
import { platform } from "./delivery-fixture.ts";
import { call, gate, read } from "@svc/agent/agent-fixture";
import { echo, type MessagingFixtureOptions, quiet, saidIn } from "./messaging-fixture.ts";
import { traceOf, traceparent, watchedFixture } from "./traces-fixture.ts";

describe("whose it is", () => {
  test("is never a neighbour's: each tool, and each sending, runs for its own message", async () => {
    const seen: (readonly [string, Scope])[] = [];
    const look = { ...read, run: async () => (seen.push(["called", currentScope()]), "seen") };
    const chat = platform();
    chat.mood = ({ text: words }) => void seen.push([words, currentScope()]);
    let calls = 0;
    const think: MessagingFixtureOptions["think"] = (options) =>
      (calls += 1) % 2 === 1 ? [call("read", {}, `c-${calls}`)] : echo(options);
    using made = watchedFixture({ think, chat, tools: [look], settings: { maxParallelTurns: 1 } });
    const brought = ["1", "2", "3"].map((digit) =>
      inScope({ request: `r-${digit}`, traceparent: traceparent(digit) }, () =>
        made.messaging.receive("chat", [saidIn(digit === "3" ? "b" : "a", digit)]),
      ),
    );
    await Promise.all(brought);
    await quiet();
    const turns = [1, 2, 3].map((n) => made.row(n).turnId);
    expect(seen).toHaveLength(6);
    for (const [what, scope] of seen) {
      expect(scope.request).toBeUndefined();
      const trace = Number(traceOf(scope.traceparent)![0]);
      expect([what, scope.turn]).toEqual([what, turns[trace - 1]]);
      expect(["called", `echo ${trace}`]).toContain(what);
    }
  });

  test("stays so for small calls that wait behind others", async () => {
    const courtesies = new BestEffortCalls({
      clock: fakeClock(),
      log: captureLogger(),
      stopping: new AbortController().signal,
    });
    const seen: (string | undefined)[] = [];
    const { opened, open } = gate();
    for (let n = 0; n < 40; n += 1) {
      const call = () => opened.then(() => void seen.push(currentScope().turn));
      inScope({ turn: `t-${n}` }, () => courtesies.soon({ channel: "chat", what: "a mark", call }));
    }
    open();
    await quiet();
    expect(seen).toEqual(Array.from({ length: 40 }, (_, n) => `t-${n}`));
  });

  test("is nobody's for who asks what it is outside of all that", () => {
    expect(currentScope()).toEqual({});
  });
});
