// An answer that waits behind the turn that waits for it, counts twice, counts although nobody had asked, or is lost by a kill.
import { SvcError } from "@svc/contract";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { act, call, hang, text } from "@svc/agent/agent-fixture";
import {
  afterKill,
  echo,
  lastAsked,
  type MessagingFixture,
  messagingFixture,
  quiet,
  said,
  saidIn,
  type Think,
} from "./messaging-fixture.ts";

/** "do …" acts and then says so; "long" never ends. */
const think: Think = (options) => {
  const words = lastAsked(options);
  if (words === "long") return hang(options);
  if (!words.startsWith("do")) return echo(options);
  return options.prompt.at(-1)!.role === "tool" ? [text(`${words}: ${told(options.prompt.at(-1)!)}`)] : [call("act")];
};
const told = (message: object): string => (JSON.stringify(message).includes('"value":"done"') ? "done" : "not done");

const asking = { think, tools: [act], verdict: "ask", asks: true } as const;
const statesOf = (made: MessagingFixture, count: number) =>
  Array.from({ length: count }, (_, n) => made.row(n + 1).state);
const bodyOf = (made: MessagingFixture, n: number) => (made.row(n).body as { text: string }).text;

describe("an answer", () => {
  test("overtakes the turn that waits for it, makes no turn, and is answered in the conversation", async () => {
    using made = messagingFixture(asking);
    await made.receive(said("do it"), said("behind"));
    expect(made.chat.taken).toEqual(["May it? #1"]);
    await made.receive(said("yes"));
    expect(made.chat.taken).toEqual(["May it? #1", "approved #1", "do it: done", "echo behind"]);
    expect([statesOf(made, 3), made.desk.committed]).toEqual([["done", "done", "done"], [1]]);
    expect(made.model.asked.map(lastAsked)).toEqual(["do it", "do it", "behind"]);
    expect(made.answersTo(3)).toEqual(["approved #1"]);
    expect(made.events.filter(({ type }) => type === "message-received")).toHaveLength(3);
    expect(made.clock.waiting).toBe(0);
  });

  test("that says no refuses the call, and the turn goes on", async () => {
    using made = messagingFixture(asking);
    await made.receive(said("do it"));
    await made.receive(said("no"));
    expect(made.chat.taken).toEqual(["May it? #1", "rejected #1", "do it: not done"]);
  });

  test("that the platform delivers twice counts once", async () => {
    using made = messagingFixture(asking);
    await made.receive(said("do one"));
    await made.receive(said("yes", { id: "m" }));
    await made.receive(said("do two"));
    await made.receive(said("yes", { id: "m" }));
    expect(made.desk.committed).toEqual([1]);
    expect(made.store.approvals.read(2)!.status).toBe("waiting");
  });

  test("of two at once, one settles it and the other is a message like any other, in its order", async () => {
    using made = messagingFixture(asking);
    await made.receive(said("do it"));
    await Promise.all([made.receive(said("yes")), made.receive(said("no")), made.desk.settle(1, "rejected")]);
    await quiet();
    expect(statesOf(made, 3)).toEqual(["done", "done", "done"]);
    const status = made.store.approvals.read(1)!.status;
    const settledBy = made.desk.committed.length;
    expect(made.chat.taken.filter((words) => words.startsWith("do it"))).toEqual([
      status === "approved" ? "do it: done" : "do it: not done",
    ]);
    expect(made.model.asked.map(lastAsked).filter((words) => words !== "do it")).toHaveLength(2 - settledBy);
  });

  test("that was sent before the question was asked is none, at once, at its turn, and after a restart", async () => {
    const home = temporaryHome();
    using made = messagingFixture({ ...asking, idle: true });
    await made.receive(said("do it"), said("yes"));
    await made.pass(1000);
    made.messaging.start();
    await quiet();
    expect([made.chat.taken, made.store.approvals.read(1)!.status]).toEqual([["May it? #1"], "waiting"]);
    afterKill(made.folder, home.path);
    using next = messagingFixture({ ...asking, folder: home.path, clock: made.clock });
    await quiet();
    expect(next.store.approvals.read(1)!.status).toBe("waiting");
    await next.receive(said("no"));
    expect(next.chat.taken).toEqual(["rejected #1", "do it: not done", "echo yes"]);
    home.remove();
  });

  test("does not come out of the very message whose turn asks", async () => {
    const eager: Think = (options) => (options.prompt.at(-1)!.role === "tool" ? [text("over")] : [call("act")]);
    const home = temporaryHome();
    using made = messagingFixture({ ...asking, think: eager });
    await made.receive(said("yes"));
    expect(made.chat.taken).toEqual(["May it? #1"]);
    afterKill(made.folder, home.path);
    // The clock stands still: the question is as old as the message.
    using next = messagingFixture({ ...asking, think: eager, folder: home.path, clock: made.clock });
    await quiet();
    expect([next.store.approvals.read(1)!.status, next.row(1).state]).toEqual(["waiting", "waiting"]);
    home.remove();
  });

  test("in another conversation answers nothing", async () => {
    using made = messagingFixture(asking);
    await made.receive(saidIn("a", "do it"));
    await made.receive(saidIn("b", "yes"));
    expect([made.store.approvals.read(1)!.status, made.chat.taken]).toEqual(["waiting", ["May it? #1", "echo yes"]]);
  });

  test("gets in where the conversation is full", async () => {
    using made = messagingFixture(asking);
    await made.receive(said("do it"));
    await made.messaging.receive(
      "chat",
      Array.from({ length: 999 }, () => said("more")),
    );
    await expect(made.messaging.receive("chat", [said("one more")])).rejects.toMatchObject({ code: "BUSY" });
    await made.messaging.receive("chat", [said("yes")]);
    await quiet();
    expect(made.desk.committed).toEqual([1]);
  });

  test("waits for nobody's place, and not for its channel", async () => {
    let isUp = true;
    using made = messagingFixture({ ...asking, settings: { maxParallelTurns: 1, isUp: () => isUp } });
    await made.receive(saidIn("a", "do it"));
    await made.receive(saidIn("b", "long"));
    isUp = false;
    await made.receive(saidIn("a", "yes"));
    expect(made.desk.committed).toEqual([1]);
  });

  test("shows no typing and is not marked as read", async () => {
    using made = messagingFixture(asking);
    const told: string[] = [];
    const note = (what: string) => async () => void told.push(what);
    Object.assign(made.chat, {
      typing: { lastsMs: 5_000, start: note("typing") },
      readMarks: { mark: note("read") },
    });
    await made.receive(said("do it", { id: "1" }));
    await made.pass(10_000);
    expect(told).toEqual(["read"]);
    await made.receive(said("no", { id: "2" }));
    await made.pass(10_000);
    expect(told).toEqual(["read"]);
  });

  test("that the disk can't take yet counts as soon as it can", async () => {
    let isFull = false;
    const wrap: NonNullable<Parameters<typeof messagingFixture>[0]>["wrap"] = (store) => ({
      ...store,
      write: async (change) => {
        if (isFull && store.inbox.read(2)) throw new SvcError("STORE_FULL");
        return store.write(change);
      },
    });
    using made = messagingFixture({ ...asking, wrap });
    await made.receive(said("do it"));
    isFull = true;
    await made.receive(said("yes"));
    expect(made.desk.committed).toEqual([]);
    isFull = false;
    await made.pass(2_000);
    expect([made.desk.committed, made.chat.taken.at(-1)]).toEqual([[1], "do it: done"]);
  });
});

describe("/stop beside an answer", () => {
  test("whatever the moment, the call is made or it is not, and nothing is left", async () => {
    const outcomes = new Set<string>();
    for (let ticks = 0; ticks < 16; ticks += 1) {
      using made = messagingFixture(asking);
      await made.receive(said("do it"));
      await made.messaging.receive("chat", [said("yes")]);
      for (let tick = 0; tick < ticks; tick += 1) await new Promise(setImmediate);
      await made.receive(said("/stop"));
      await quiet();
      expect(statesOf(made, 3)).toEqual(["done", "done", "done"]);
      const status = made.store.approvals.read(1)!.status;
      expect(["approved", "cancelled"]).toContain(status);
      expect(made.clock.waiting).toBe(0);
      outcomes.add(made.chat.taken.slice(1).join(" | "));
    }
    expect([...outcomes].toSorted()).toContain("approved #1 | do it: done | Nothing was running.");
    expect(outcomes.size).toBeGreaterThan(1);
  });

  test("ends the question: what is said after it is a message", async () => {
    using made = messagingFixture(asking);
    await made.receive(said("do it"));
    await made.receive(said("/stop"));
    await made.receive(said("yes"));
    expect(made.chat.taken).toEqual(["May it? #1", "Stopped.", "echo yes"]);
    expect([made.store.approvals.read(1)!.status, made.desk.committed]).toEqual(["cancelled", []]);
  });
});

describe("an answer that a kill left behind", () => {
  test("counts at the next start, although the turn that waits for it stands before it", async () => {
    const home = temporaryHome();
    using made = messagingFixture(asking);
    await made.receive(said("do it"));
    await made.messaging.stop(0);
    // Kept by a process that was killed before it looked at it.
    await made.receive(said("yes"));
    afterKill(made.folder, home.path);
    using next = messagingFixture({ ...asking, folder: home.path, clock: made.clock });
    await quiet();
    expect(next.chat.taken.toSorted()).toEqual(["approved #1", "do it: done"]);
    expect([bodyOf(next, 2), statesOf(next, 2)]).toEqual(["yes", ["done", "done"]]);
    home.remove();
  });
});
