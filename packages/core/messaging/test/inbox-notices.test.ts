// A notice that is lost, handed over out of order, given up, or in the way of messages; a sender who sees no sign of life.
import { SvcError, type Json } from "@svc/contract";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { hang, text } from "@svc/agent/agent-fixture";
import { platform } from "./delivery-fixture.ts";
import { afterKill, echo, messagingFixture, quiet, said, type Think } from "./messaging-fixture.ts";

type AgentFixture = ReturnType<typeof messagingFixture>;

const notify = async (made: AgentFixture, ...bodies: Json[]): Promise<void> => {
  const messages = bodies.map((body) => ({ kind: "notice", conversationKey: "mail", body }) as const);
  await made.messaging.accept({ channel: "chat", messages });
  await quiet();
};

/** Fails so often at each. */
function mailbox(times = 0, error: unknown = new SvcError("REMOTE_UNREACHABLE")) {
  const seen: Json[] = [];
  const taken: Json[] = [];
  const chat = platform({
    onNotice: async (notice) => {
      seen.push(notice);
      if (seen.filter((other) => other === notice).length <= times) throw error;
      taken.push(notice);
    },
  });
  return { chat, seen, taken };
}

describe("a notice", () => {
  test("is handed to its channel once it is on disk, in order, and is over then", async () => {
    const { chat, taken } = mailbox();
    using made = messagingFixture({ chat });
    await notify(made, "a", { b: 1 });
    expect(taken).toEqual(["a", { b: 1 }]);
    expect([made.row(1).state, made.row(2).state, made.events, made.model.asked]).toEqual(["done", "done", [], []]);
  });

  test("that fails is tried again without an end, and those behind it wait", async () => {
    const { chat, seen, taken } = mailbox(20);
    using made = messagingFixture({ chat });
    await notify(made, "a", "b");
    await made.pass(60_000);
    expect(new Set(seen)).toEqual(new Set(["a"]));
    expect(made.row(1)).toMatchObject({ state: "waiting", error: "REMOTE_UNREACHABLE" });
    await made.pass(20 * 300_000);
    expect([seen.filter((notice) => notice === "a").length, taken[0]]).toEqual([21, "a"]);
  });

  test("waits for a channel that is down, and survives a kill", async () => {
    const target = temporaryHome();
    using made = messagingFixture({ chat: mailbox().chat, settings: { isUp: () => false } });
    await notify(made, "a");
    afterKill(made.folder, target.path);
    const { chat, taken } = mailbox();
    using next = messagingFixture({ chat, folder: target.path });
    await quiet();
    expect([taken, next.row(1).state]).toEqual([["a"], "done"]);
    target.remove();
  });

  test("whose channel hangs is called off by a shutdown, and comes again", async () => {
    const target = temporaryHome();
    using made = messagingFixture({ chat: platform({ onNotice: () => new Promise(() => {}) }) });
    await notify(made, "a");
    const stopped = made.messaging.stop(1_000);
    await made.clock.advance(1_000);
    await stopped;
    afterKill(made.folder, target.path);
    const { chat, taken } = mailbox();
    using next = messagingFixture({ chat, folder: target.path });
    await quiet();
    expect([taken, next.row(1).attempts]).toEqual([["a"], 0]);
    target.remove();
  });

  test("does not wait for turns, nor turns for it", async () => {
    const { chat, taken } = mailbox();
    using made = messagingFixture({ chat, think: hang, settings: { maxParallelTurns: 1 } });
    await made.receive(said("long"));
    await notify(made, "a");
    expect(taken).toEqual(["a"]);
  });

  test("of a channel that takes none is over, and that is said", async () => {
    using made = messagingFixture();
    await notify(made, "a");
    expect(made.row(1)).toMatchObject({ state: "failed", error: "CHANNEL_CANNOT" });
    expect(made.log.text()).toContain("a channel keeps notices that it does not take");
  });

  test("that fails in nobody's words leaves none of them in the log", async () => {
    const { chat } = mailbox(1, new Error("sk-secret"));
    using made = messagingFixture({ chat });
    await notify(made, "a");
    expect([made.log.text().includes("sk-secret"), made.row(1).error]).toEqual([false, "INTERNAL"]);
  });

  test("that was dropped is not tried again", async () => {
    const { chat, seen } = mailbox(9);
    using made = messagingFixture({ chat });
    await notify(made, "a", "b");
    await made.messaging.messageAdmin.drop("in-1");
    await made.pass(2_000);
    expect([made.row(1).state, seen.filter((notice) => notice === "a").length, seen.includes("b")]).toEqual([
      "dropped",
      1,
      true,
    ]);
  });
});

describe("a sign of life", () => {
  /** Says when it was asked for one. */
  function showing(lastsMs: number, fail = false) {
    const signs: string[] = [];
    let made: AgentFixture | undefined;
    const at = (what: string) => signs.push(`${what} ${made!.clock.monotonic()}`);
    const sign = (what: string) => async () => {
      at(what);
      if (fail) throw new Error("sk-secret");
    };
    const chat = platform({ typing: { lastsMs, start: sign("typing") }, readMarks: { mark: sign("read") } });
    return { chat, signs, of: (agentFixture: AgentFixture) => (made = agentFixture) };
  }

  const answer = Promise.withResolvers<void>();
  const slowly: Think = async (options) => (await answer.promise, echo(options));

  test("comes when the turn begins, and again and again until it ends", async () => {
    const { chat, signs, of } = showing(5_000);
    using made = of(messagingFixture({ chat, think: slowly }));
    await made.receive(said("hi", { id: "m-1" }));
    await made.pass(12_000);
    answer.resolve();
    await made.pass(20_000);
    expect(signs).toEqual(["read 0", "typing 300", "typing 5300", "typing 10300"]);
    expect(made.clock.waiting).toBe(0);
  });

  test("is not asked for more than once a second, nor for an answer that is there at once", async () => {
    const { chat, signs, of } = showing(0);
    using made = of(messagingFixture({ chat, think: hang }));
    await made.receive(said("hi"));
    await made.pass(3_000);
    expect(signs).toEqual(["typing 300", "typing 1300", "typing 2300"]);
    const quick = showing(5_000);
    using other = quick.of(messagingFixture({ chat: quick.chat, think: () => [text("yes")] }));
    await other.receive(said("hi"));
    await other.pass(10_000);
    expect(quick.signs).toEqual([]);
  });

  test("that fails stops nothing, is asked for no more, and its words are nobody's business", async () => {
    const { chat, signs, of } = showing(5_000, true);
    const gate = Promise.withResolvers<void>();
    using made = of(messagingFixture({ chat, think: async (options) => (await gate.promise, echo(options)) }));
    await made.receive(said("hi", { id: "m-1" }));
    await made.pass(20_000);
    gate.resolve();
    await quiet();
    expect([signs, made.chat.taken]).toEqual([["read 0", "typing 300"], ["echo hi"]]);
    expect(made.log.text()).not.toContain("sk-secret");
  });

  test("that hangs is in nobody's way", async () => {
    const chat = platform({
      typing: { lastsMs: 1_000, start: () => new Promise(() => {}) },
      readMarks: { mark: () => new Promise(() => {}) },
    });
    using made = messagingFixture({ chat });
    await made.receive(said("hi", { id: "m-1" }));
    expect(made.chat.taken).toEqual(["echo hi"]);
    await made.pass(30_000);
    expect(made.clock.waiting).toBe(0);
  });

  test("of a platform that hangs takes no connection for each message, and holds up no shutdown", async () => {
    const open = new Set<AbortSignal>();
    const mark = (_: unknown, _id: string, signal: AbortSignal): Promise<void> => {
      open.add(signal);
      signal.addEventListener("abort", () => open.delete(signal));
      return new Promise(() => {});
    };
    const chat = platform({ readMarks: { mark } });
    using made = messagingFixture({ chat });
    for (let n = 0; n < 20; n += 1) await made.receive(said("hi", { id: `m-${n}` }));
    expect([chat.taken.length, open.size]).toEqual([20, 16]);
    await made.pass(30_000);
    expect(open.size).toBe(0);
    await made.receive(said("hi", { id: "m-last" }));
    expect(open.size).toBe(1);
    await made.messaging.stop(0);
    await quiet();
    expect([open.size, made.clock.waiting]).toEqual([0, 0]);
  });
});
