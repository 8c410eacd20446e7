// A kill must not cut a trace in two: what the next process does for a message is part of what the last one began.
import { statSync } from "node:fs";
import { join } from "node:path";
import { inScope } from "@svc/runtime";
import { openStore } from "@svc/store";
import { fakeClock } from "@svc/testkit/fake-clock";
import { recordedInstruments } from "@svc/testkit/observe/recorded-tracer";
import type { RecordedWork } from "@svc/testkit/observe/recording-observer";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { act, call, until } from "@svc/agent/agent-fixture";
import {
  afterKill,
  echo,
  type MessagingFixture,
  messagingFixture,
  type MessagingFixtureOptions,
  quiet,
  said,
  saidIn,
} from "./messaging-fixture.ts";
import { traceOf, traceparent } from "./traces-fixture.ts";

describe("what the last process left", () => {
  const sentFor = ({ store }: MessagingFixture, n: number): unknown[] =>
    store.outbox.ofTurn(store.inbox.read(n)!.turnId).map((delivery) => traceOf(delivery.traceparent));

  test("a /stop that nobody had time for is answered in its own trace", async () => {
    const home = temporaryHome();
    {
      using made = messagingFixture({ folder: home.path, idle: true });
      for (const [digit, words] of [
        ["1", "one"],
        ["2", "/stop"],
      ] as const) {
        await inScope({ traceparent: traceparent(digit) }, () => made.messaging.receive("chat", [said(words)]));
      }
    }
    using next = messagingFixture({ folder: home.path });
    await quiet();
    expect([next.answersTo(2), sentFor(next, 2)]).toEqual([["Stopped."], ["2".repeat(32)]]);
    home.remove();
  });

  test("of a message that it died of again and again, its sender is told in the trace of its wait", async () => {
    const [home, clock] = [temporaryHome(), fakeClock()];
    {
      using made = messagingFixture({ folder: home.path, clock, idle: true });
      await made.receive(said("deadly"));
    }
    for (let kills = 0; kills < 5; kills += 1) {
      const store = openStore({ file: join(home.path, "svc.db"), clock, idempotency: { ttlMs: 1, maxKeys: 1 } });
      await store.write(() => store.inbox.begin(1, traceparent("a")));
      store.close();
    }
    using next = messagingFixture({ folder: home.path, clock });
    await quiet();
    expect([next.row(1).error, sentFor(next, 1)]).toEqual(["TURN_CRASHED", ["a".repeat(32)]]);
    home.remove();
  });
});

test("after a kill at any commit, all that follows of a message is part of what it began as", async () => {
  const clock = fakeClock();
  const { tracer, recorded } = recordedInstruments(clock);
  const script: MessagingFixtureOptions["think"] = (options) => {
    const results = options.prompt.slice(options.prompt.findLastIndex(({ role }) => role === "user")).length;
    return results === 1 ? [call("act", {}, "c-1")] : echo(options);
  };
  const options = { clock, tracer, think: script, tools: [act], settings: { maxParallelTurns: 1 } };
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
    using first = messagingFixture({
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
    using next = messagingFixture({ ...options, folder: kill.folder });
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
});

const isOver = ({ store }: MessagingFixture): boolean => {
  const { inbox, outbox } = store.inbox.counts();
  return inbox.waiting + outbox.waiting === 0;
};

/** The message that a turn or a delivery is for. */
function numbersOf({ store }: MessagingFixture, { kind, facts }: RecordedWork): number[] {
  const turnId =
    kind === "turn" && "turnId" in facts
      ? facts.turnId
      : kind === "delivery" && "messageId" in facts
        ? store.outbox.read(Number(facts.messageId.slice(4)))?.turnId
        : undefined;
  return store.inbox.list({}, 9).flatMap((message) => (message.turnId === turnId ? [message.n] : []));
}
