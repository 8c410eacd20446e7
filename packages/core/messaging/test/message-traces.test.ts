// One trace from what brought a message to the delivery of its answer: broken by a restart, a retry or a neighbour, nobody could
// follow one person's message through the service; and a wait that is told twice, or never ends, would be counted as two.
import type { ClientId } from "@svc/contract";
import { inScope } from "@svc/runtime";
import { fakeClock } from "@svc/testkit/fake-clock";
import { recordedInstruments } from "@svc/testkit/observe/recorded-tracer";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { sessionMessageOf } from "@svc/agent";
import { text } from "@svc/agent/agent-fixture";
import { down, failing, messagingFixture, quiet, said, saidIn } from "./messaging-fixture.ts";
import { errorsOf, traceOf, traceparent, TREE, watchedFixture } from "./traces-fixture.ts";

describe("a message", () => {
  test("waits, is answered and delivered in the trace of the request that brought it", async () => {
    const clock = fakeClock();
    using made = watchedFixture({ clock, idle: true });
    const request = made.tracer.begin("request", { method: "POST", route: "/chat" });
    await request.during(() => made.messaging.receive("chat", [said("hi")]));
    request.end({ status: 200 });
    const receivedAtMs = clock.now();
    await clock.advance(5_000);
    made.messaging.start();
    await quiet();
    expect(made.recorded.tree()).toEqual(["request", "  inbox", "    turn", "      model-call", "      delivery"]);
    const { turnId } = made.row(1);
    expect(made.recorded.of("inbox")).toMatchObject([
      {
        parent: request.traceparent,
        facts: { channel: "chat", messageId: "in-1" },
        startedAtMs: receivedAtMs,
        endedAtMs: receivedAtMs + 5_000,
        result: { error: undefined },
      },
    ]);
    expect(made.recorded.of("turn")).toMatchObject([{ facts: { turnId, channel: "chat" } }]);
    expect(made.recorded.of("delivery")).toMatchObject([
      { facts: { channel: "chat", messageId: "out-1", attempt: 1 }, result: { error: undefined } },
    ]);
    expect([made.recorded.open, made.thrown]).toEqual([[], []]);
  });

  test("that a long connection brought begins a trace of its own", async () => {
    using made = watchedFixture();
    await made.receive(said("one"));
    await made.receive(saidIn("elsewhere", "two"));
    expect(made.recorded.tree()).toEqual([...TREE, ...TREE]);
    expect(new Set(made.recorded.works.map((work) => traceOf(work.traceparent))).size).toBe(2);
  });

  test("of somebody who asked by HTTP and does not wait came by no channel", async () => {
    using made = watchedFixture();
    const asked = sessionMessageOf({
      owner: "ada" as ClientId,
      session: "ops",
      conversation: { channel: "chat", id: "ops@ada" },
      sender: "ada",
      text: "hi",
      replyData: null,
    });
    await made.messaging.accept({ channel: "chat", messages: [asked] });
    await quiet();
    expect(made.recorded.tree()).toEqual(TREE);
    expect(made.recorded.of("turn")[0]!.facts.channel).toBeUndefined();
  });

  test("is told to have waited once, however often it is tried, and all tries are in its trace", async () => {
    using made = watchedFixture({
      think: failing(2, down),
      settings: { maxAttempts: 5 },
      config: { model: { max_retries: 0 } },
    });
    await made.receive(said("hi"));
    await made.pass(60_000);
    expect(made.answersTo(1)).toEqual(["echo hi"]);
    const failed = ["  turn", "    model-call"];
    expect(made.recorded.tree()).toEqual(["inbox", ...failed, ...failed, ...failed, "    delivery"]);
    expect(errorsOf(made.recorded.of("turn"))).toEqual(["MODEL_UNREACHABLE", "MODEL_UNREACHABLE", "ok"]);
  });

  test("is counted once where nobody traces, and leaves nothing on disk", async () => {
    using made = watchedFixture({ think: failing(2, down), config: { model: { max_retries: 0 } } }, { traces: false });
    await made.receive(said("hi"));
    await made.pass(60_000);
    expect(made.recorded.of("inbox")).toHaveLength(1);
    expect(made.recorded.of("turn")).toHaveLength(3);
    expect(made.recorded.works.every(({ parent }) => parent === undefined)).toBe(true);
    expect([made.row(1), ...made.store.outbox.list({}, 9)].filter((row) => "traceparent" in row)).toEqual([]);
  });

  test("is counted once by the process that it came to, also where nobody traces", async () => {
    const home = temporaryHome();
    const [first, second] = [recordedInstruments(fakeClock(), { traces: false }), recordedInstruments(fakeClock())];
    const options = { folder: home.path, config: { model: { max_retries: 0 } } };
    {
      using made = messagingFixture({ ...options, think: failing(9, down), tracer: first.tracer });
      await made.receive(said("hi"));
      const stopped = made.messaging.stop(0);
      await made.pass(500);
      await stopped;
    }
    using next = messagingFixture({ ...options, tracer: second.tracer });
    await quiet();
    expect(next.answersTo(1)).toEqual(["echo hi"]);
    expect([first, second].map(({ recorded }) => recorded.of("inbox").length)).toEqual([1, 0]);
    home.remove();
  });

  test("whose sender is told that it could not be answered: that word is in its trace", async () => {
    using made = watchedFixture({ think: () => [text(" ")] });
    await made.receive(said("hi"));
    await made.pass(60_000);
    expect(made.answersTo(1)).toHaveLength(1);
    const [inbox] = made.recorded.of("inbox");
    expect(made.recorded.of("delivery").map(({ parent }) => parent)).toEqual([inbox!.traceparent]);
    expect(made.recorded.open).toEqual([]);
  });

  test("that is a command has no turn, and its answer is in its trace", async () => {
    using made = watchedFixture();
    await inScope({ traceparent: traceparent("1") }, () => made.messaging.receive("chat", [said("/new")]));
    await quiet();
    expect(made.recorded.tree()).toEqual(["inbox", "  delivery"]);
    expect(made.recorded.works.map((work) => traceOf(work.parent))).toEqual(["1".repeat(32), "1".repeat(32)]);
    expect([made.recorded.open, errorsOf(made.recorded.of("inbox"))]).toEqual([[], ["ok"]]);
  });
});
