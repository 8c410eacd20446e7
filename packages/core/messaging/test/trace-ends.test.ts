// A wait or a delivery without an end would be counted for ever as one that runs; one with the wrong end as a success.
import { SvcError } from "@svc/contract";
import { type Scope, currentScope, inScope } from "@svc/runtime";
import type { Store } from "@svc/store";
import { fakeClock } from "@svc/testkit/fake-clock";
import { fakeWorkspace } from "@svc/testkit/fake-workspace";
import { recordedInstruments } from "@svc/testkit/observe/recorded-tracer";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { platform } from "./delivery-fixture.ts";
import { hang } from "@svc/agent/agent-fixture";
import { messagingFixture, quiet, said } from "./messaging-fixture.ts";
import { errorsOf, traceOf, traceparent, watchedFixture } from "./traces-fixture.ts";

const IMAGE = { kind: "image", ref: "v", placeholder: "[IMAGE]", mimeType: "image/png" } as const;

describe("what becomes of it has an end", () => {
  test("stopped while its files are fetched, it got no turn; who asks for them does so within its wait", async () => {
    const asked: Scope[] = [];
    const media = {
      maxBytes: 100,
      sends: [],
      fetch: (_: unknown, __: unknown, signal: AbortSignal) => {
        asked.push(currentScope());
        return hang({ abortSignal: signal } as never);
      },
    };
    using made = watchedFixture({ chat: platform({ media }), workspace: fakeWorkspace({}) });
    await made.receive(said("look", { media: [IMAGE] }));
    while (asked.length === 0) await quiet();
    expect(asked).toEqual([{ turn: made.row(1).turnId, traceparent: made.recorded.works[0]!.traceparent }]);
    expect(made.recorded.tree()).toEqual(["inbox"]);
    await made.receive(said("/stop"));
    expect(errorsOf(made.recorded.of("inbox"))).toEqual(["TURN_CANCELLED"]);
    expect(made.recorded.open).toEqual([]);
  });

  test("one that a full disk kept from its turn waits on, and its wait ends with the process", async () => {
    const disk = { isFull: false };
    const wrap = (store: Store): Store => ({
      ...store,
      write: (change) => (disk.isFull ? Promise.reject(new SvcError("STORE_FULL")) : store.write(change)),
    });
    const media = { maxBytes: 9, sends: [], fetch: async () => ((disk.isFull = true), {}) };
    using made = watchedFixture({ chat: platform({ media }), workspace: fakeWorkspace({}), wrap });
    await made.receive(said("look", { media: [IMAGE] }));
    while (!disk.isFull) await quiet();
    await made.pass(10_000);
    expect([made.recorded.tree(), made.recorded.open.length]).toEqual([["inbox"], 1]);
    const stopped = made.messaging.stop(0);
    await made.pass(3_000);
    await stopped;
    expect([made.recorded.tree(), errorsOf(made.recorded.works)]).toEqual([["inbox"], ["TURN_CANCELLED"]]);
  });

  test("a shutdown ends what it calls off, and the next process goes on in the same trace", async () => {
    const clock = fakeClock();
    const watched = recordedInstruments(clock);
    const home = temporaryHome();
    const options = { clock, tracer: watched.tracer, folder: home.path };
    {
      using made = messagingFixture({ ...options, think: hang });
      await inScope({ traceparent: traceparent("1") }, () => made.messaging.receive("chat", [said("hi")]));
      await quiet();
      const stopped = made.messaging.stop(1_000);
      await clock.advance(4_000);
      await stopped;
      expect(errorsOf(watched.recorded.works)).toEqual(["ok", "TURN_CANCELLED", "TURN_CANCELLED"]);
    }
    using next = messagingFixture(options);
    await quiet();
    expect(next.answersTo(1)).toEqual(["echo hi"]);
    const attempt = ["  turn", "    model-call"];
    expect(watched.recorded.tree()).toEqual(["inbox", ...attempt, ...attempt, "    delivery"]);
    expect(new Set(watched.recorded.works.map((work) => traceOf(work.traceparent)))).toEqual(new Set(["1".repeat(32)]));
    home.remove();
  });

  test("a delivery that is tried again is told for each try, one that is called off as such", async () => {
    const chat = platform();
    let tries = 0;
    chat.mood = () => ((tries += 1) === 1 ? new Error("no") : tries === 2 ? "hang" : "take");
    using made = watchedFixture({ chat });
    await made.receive(said("hi"));
    await made.pass(5_000);
    const stopped = made.messaging.stop(0);
    await made.clock.advance(1_000);
    await stopped;
    const [turn] = made.recorded.of("turn");
    expect(made.recorded.of("delivery")).toMatchObject([
      { parent: turn!.traceparent, facts: { attempt: 1 }, result: { error: "DELIVERY_FAILED" } },
      { parent: turn!.traceparent, facts: { attempt: 2 }, result: { error: "DRAINING" } },
    ]);
    expect(made.recorded.open).toEqual([]);
  });
});
