// One trace from what brought a message to the delivery of its answer: broken by a restart, a retry or a neighbour, nobody could
// follow one person's message through the service; and a wait that is told twice, or never ends, would be counted as two.
import { statSync } from "node:fs";
import { join } from "node:path";
import type { ClientId } from "@svc/contract";
import { currentScope, inScope, type Scope } from "@svc/kernel";
import {
  fakeClock,
  fakeWorkspace,
  type RecordedWork,
  type RecordingOptions,
  recordedInstruments,
  temporaryHome,
} from "@svc/testkit";
import { describe, expect, test } from "vitest";
import { sessionMessageOf } from "../src/index.ts";
import { platform } from "./delivery-house.ts";
import { act, call, hang, read, text, until } from "./house.ts";
import {
  afterKill,
  down,
  echo,
  failing,
  type MessagingHouse,
  messagingHouse,
  type MessagingHouseOptions,
  quiet,
  said,
  saidIn,
} from "./messaging-house.ts";

const traceparent = (digit: string): string => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
const traceOf = (parent: string | undefined): string | undefined => parent?.slice(3, 35);

function watchedHouse(options: MessagingHouseOptions = {}, recording: RecordingOptions = {}) {
  const { clock = fakeClock() } = options;
  const watched = recordedInstruments(clock, recording);
  const made = messagingHouse({ ...options, clock, instruments: watched.instruments });
  return { ...made, ...watched, [Symbol.dispose]: () => made[Symbol.dispose]() };
}

const errorsOf = (works: readonly RecordedWork[]): unknown[] =>
  works.map(({ result }) => (result && "error" in result ? (result.error ?? "ok") : "open"));

describe("a message", () => {
  test("waits, is answered and delivered in the trace of the request that brought it", async () => {
    const clock = fakeClock();
    using made = watchedHouse({ clock, idle: true });
    const request = made.instruments.begin("request", { method: "POST", route: "/chat" });
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
    using made = watchedHouse();
    await made.receive(said("one"));
    await made.receive(saidIn("elsewhere", "two"));
    expect(made.recorded.tree()).toEqual([...TREE, ...TREE]);
    expect(new Set(made.recorded.works.map((work) => traceOf(work.traceparent))).size).toBe(2);
  });

  test("of somebody who asked by HTTP and does not wait came by no channel", async () => {
    using made = watchedHouse();
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
    using made = watchedHouse({
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
    using made = watchedHouse({ think: failing(2, down), config: { model: { max_retries: 0 } } }, { traces: false });
    await made.receive(said("hi"));
    await made.pass(60_000);
    expect(made.recorded.of("inbox")).toHaveLength(1);
    expect(made.recorded.of("turn")).toHaveLength(3);
    expect(made.recorded.works.every(({ parent }) => parent === undefined)).toBe(true);
    expect([made.row(1), ...made.store.outbox.list({}, 9)].filter((row) => "traceparent" in row)).toEqual([]);
  });

  test("whose sender is told that it could not be answered: that word is in its trace", async () => {
    using made = watchedHouse({ think: () => [text(" ")] });
    await made.receive(said("hi"));
    await made.pass(60_000);
    expect(made.answersTo(1)).toHaveLength(1);
    const [inbox] = made.recorded.of("inbox");
    expect(made.recorded.of("delivery").map(({ parent }) => parent)).toEqual([inbox!.traceparent]);
    expect(made.recorded.open).toEqual([]);
  });

  test("that is a command has no turn, and its answer is in its trace", async () => {
    using made = watchedHouse();
    await inScope({ traceparent: traceparent("1") }, () => made.messaging.receive("chat", [said("/new")]));
    await quiet();
    expect(made.recorded.tree()).toEqual(["inbox", "  delivery"]);
    expect(made.recorded.works.map((work) => traceOf(work.parent))).toEqual(["1".repeat(32), "1".repeat(32)]);
    expect([made.recorded.open, errorsOf(made.recorded.of("inbox"))]).toEqual([[], ["ok"]]);
  });
});

const TREE = ["inbox", "  turn", "    model-call", "    delivery"];

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
    const image = { kind: "image", ref: "v", placeholder: "[IMAGE]", mimeType: "image/png" } as const;
    using made = watchedHouse({ chat: platform({ media }), workspace: fakeWorkspace({}) });
    await made.receive(said("look", { media: [image] }));
    while (asked.length === 0) await quiet();
    expect(asked).toEqual([{ turn: made.row(1).turnId, traceparent: made.recorded.works[0]!.traceparent }]);
    expect(made.recorded.tree()).toEqual(["inbox"]);
    await made.receive(said("/stop"));
    expect(errorsOf(made.recorded.of("inbox"))).toEqual(["TURN_CANCELLED"]);
    expect(made.recorded.open).toEqual([]);
  });

  test("a shutdown ends what it calls off, and the next process goes on in the same trace", async () => {
    const clock = fakeClock();
    const watched = recordedInstruments(clock);
    const home = temporaryHome();
    const options = { clock, instruments: watched.instruments, folder: home.path };
    {
      using made = messagingHouse({ ...options, think: hang });
      await inScope({ traceparent: traceparent("1") }, () => made.messaging.receive("chat", [said("hi")]));
      await quiet();
      const stopped = made.messaging.stop(1_000);
      await clock.advance(4_000);
      await stopped;
      expect(errorsOf(watched.recorded.works)).toEqual(["ok", "TURN_CANCELLED", "TURN_CANCELLED"]);
    }
    using next = messagingHouse(options);
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
    using made = watchedHouse({ chat });
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

describe("whose it is", () => {
  test("is never a neighbour's: each tool, and each sending, runs for its own message", async () => {
    const seen: (readonly [string, Scope])[] = [];
    const look = { ...read, run: async () => (seen.push(["called", currentScope()]), "seen") };
    const chat = platform();
    chat.mood = ({ text: words }) => void seen.push([words, currentScope()]);
    let calls = 0;
    const think: MessagingHouseOptions["think"] = (options) =>
      (calls += 1) % 2 === 1 ? [call("read", {}, `c-${calls}`)] : echo(options);
    using made = watchedHouse({ think, chat, tools: [look], settings: { maxParallelTurns: 1 } });
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

  test("is nobody's for who asks what it is outside of all that", () => {
    expect(currentScope()).toEqual({});
  });
});

test(
  "after a kill at any commit, all that follows of a message is part of what it began as",
  { timeout: 60_000 },
  async () => {
    const clock = fakeClock();
    const { instruments, recorded } = recordedInstruments(clock);
    const script: MessagingHouseOptions["think"] = (options) => {
      const results = options.prompt.slice(options.prompt.findLastIndex(({ role }) => role === "user")).length;
      return results === 1 ? [call("act", {}, "c-1")] : echo(options);
    };
    const options = { clock, instruments, think: script, tools: [act], settings: { maxParallelTurns: 1 } };
    const kills: { folder: string; remove: () => void }[] = [];
    let size = 0;
    let folder = "";
    const remember = (): void => {
      const now = statSync(join(folder, "svc.db-wal")).size;
      if (now === size) return;
      size = now;
      const home = temporaryHome();
      afterKill(folder, home.path);
      kills.push({ folder: home.path, remove: home.remove });
    };
    {
      using first = messagingHouse({
        ...options,
        wrap: (store) => ({ ...store, write: (change) => store.write(change).finally(remember) }),
      });
      folder = first.folder;
      for (const digit of ["1", "2"]) {
        await inScope({ traceparent: traceparent(digit) }, () => first.messaging.receive("chat", [saidIn("a", digit)]));
      }
      await until(() => isOver(first));
      await quiet();
    }
    expect(kills.length).toBeGreaterThan(5);
    for (const kill of kills) {
      const before = recorded.works.length;
      using next = messagingHouse({ ...options, folder: kill.folder });
      await until(() => isOver(next));
      await quiet();
      const isPart = (work: RecordedWork): boolean => recorded.works.some((one) => one.traceparent === work.parent);
      for (const work of recorded.works.slice(before)) {
        expect([work.kind, isPart(work) || work.kind === "inbox"]).toEqual([work.kind, true]);
        const traces = numbersOf(next, work).map((n) => String(n).repeat(32));
        expect([traceOf(work.traceparent)]).toEqual(expect.arrayContaining(traces));
      }
      kill.remove();
    }
    expect(recorded.open).toEqual([]);
  },
);

const isOver = ({ store }: MessagingHouse): boolean => {
  const { inbox, outbox } = store.inbox.counts();
  return inbox.waiting + outbox.waiting === 0;
};

/** The message that a turn or a delivery is for. */
function numbersOf({ store }: MessagingHouse, { kind, facts }: RecordedWork): number[] {
  const turnId =
    kind === "turn" && "turnId" in facts
      ? facts.turnId
      : kind === "delivery" && "messageId" in facts
        ? store.outbox.read(Number(facts.messageId.slice(4)))?.turnId
        : undefined;
  return store.inbox.list({}, 9).flatMap((message) => (message.turnId === turnId ? [message.n] : []));
}
