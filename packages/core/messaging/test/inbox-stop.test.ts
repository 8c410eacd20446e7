// A person who says stop and is not heard, or whose next message is stopped too; a message that is dropped and answered.
import { SvcError } from "@svc/contract";
import { fakeWorkspace } from "@svc/testkit/fake-workspace";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { act, call, hang, text } from "@svc/agent/agent-fixture";
import { afterKill, echo, lastAsked, messagingFixture, quiet, said, saidIn, type Think } from "./messaging-fixture.ts";

const hanging: Think = (options) => (lastAsked(options).includes("long") ? hang(options) : echo(options));
/** Answers some turns of the event loop later. */
const slow: Think = async (options) => {
  for (let tick = 0; tick < 5; tick += 1) await new Promise(setImmediate);
  return echo(options);
};
const statesOf = (made: ReturnType<typeof messagingFixture>, count: number) =>
  Array.from({ length: count }, (_, n) => made.row(n + 1).state);

describe("/stop on a channel", () => {
  test("ends the turn that runs and what waits before it, at once; what comes after is answered", async () => {
    using made = messagingFixture({ think: hanging });
    await made.receive(said("long"));
    await made.receive(said("behind"), said(" /STOP "), said("after"));
    expect(made.chat.taken).toEqual(["Stopped.", "echo after"]);
    expect(statesOf(made, 4)).toEqual(["done", "done", "done", "done"]);
    expect(made.model.asked.map(lastAsked)).toEqual(["long", "after"]);
    expect(made.clock.waiting).toBe(0);
  });

  test("concerns its own conversation only", async () => {
    using made = messagingFixture({ think: hanging });
    await made.receive(saidIn("a", "long"), saidIn("b", "/stop"));
    expect(made.chat.taken).toEqual(["Nothing was running."]);
    expect(made.row(1).state).toBe("waiting");
  });

  test("ends a message that rests between two attempts", async () => {
    const think: Think = () => {
      throw new SvcError("MODEL_UNREACHABLE");
    };
    using made = messagingFixture({ think, config: { model: { max_retries: 0 } } });
    await made.receive(said("long"));
    await made.receive(said("/stop"));
    expect([made.chat.taken, made.model.asked.length, made.row(1).state]).toEqual([["Stopped."], 1, "done"]);
    expect(made.clock.waiting).toBe(0);
    await made.receive(said("after"));
    expect(made.model.asked).toHaveLength(2);
  });

  test("ends a message whose files are still on their way", async () => {
    const media = { maxBytes: 100, sends: [], fetch: () => new Promise<never>(() => {}) };
    using made = messagingFixture({ workspace: fakeWorkspace({}) });
    Object.assign(made.chat, { media });
    await made.receive(said("[IMAGE]", { media: [{ kind: "image", ref: "r", placeholder: "[IMAGE]" }] }));
    await made.receive(said("/stop"));
    expect([made.chat.taken, made.model.asked.length]).toEqual([["Stopped."], 0]);
  });

  test("keeps what acted in the conversation", async () => {
    const think: Think = (options) => {
      if (lastAsked(options) !== "long") return [text(String(options.prompt.length))];
      return options.prompt.length === 1 ? [call("act")] : hang(options);
    };
    using made = messagingFixture({ think, tools: [act] });
    await made.receive(said("long"));
    await made.receive(said("/stop"));
    await made.receive(said("what did you do?"));
    expect(made.chat.taken).toEqual(["Stopped.", "5"]);
    expect(made.store.steps.of(made.row(1).turnId)).toEqual([]);
  });

  test("that a kill left behind stops what it was to stop", async () => {
    const home = temporaryHome();
    using made = messagingFixture({ think: hanging, idle: true });
    await made.receive(said("long"), said("behind"), said("/stop"), said("after"));
    afterKill(made.folder, home.path);
    using next = messagingFixture({ folder: home.path, think: hanging });
    await quiet();
    expect(next.chat.taken).toEqual(["Stopped.", "echo after"]);
    home.remove();
  });

  test("that is the first of its conversation after a start has nothing to stop", async () => {
    using made = messagingFixture({ idle: true });
    await made.receive(said("/stop"), said("hello"));
    made.messaging.start();
    await quiet();
    expect(made.chat.taken).toEqual(["Nothing was running.", "echo hello"]);
  });

  test("whatever the moment: either it ends the turn, or the answer is there", async () => {
    const outcomes = new Set<string>();
    for (let ticks = 0; ticks < 16; ticks += 1) {
      using made = messagingFixture({ think: slow });
      await made.messaging.receive("chat", [said("hello")]);
      for (let tick = 0; tick < ticks; tick += 1) await new Promise(setImmediate);
      await made.receive(said("/stop"));
      const outcome = made.chat.taken.join(" | ");
      expect(["Stopped.", "echo hello | Nothing was running."]).toContain(outcome);
      expect(statesOf(made, 2)).toEqual(["done", "done"]);
      outcomes.add(outcome);
    }
    expect(outcomes.size).toBe(2);
  });
});

describe("a turn that is stopped from elsewhere", () => {
  test("is over, and its sender is told in one sentence", async () => {
    using made = messagingFixture({ think: hanging });
    await made.receive(said("long"));
    const [session] = made.agent.sessions.list({}, 1);
    expect(made.agent.sessions.cancel(session!.id)).toBe(true);
    await quiet();
    expect(made.chat.taken).toEqual(["This message will not be answered: its turn was stopped."]);
    expect(made.row(1).state).toBe("done");
    expect(made.events.filter(({ type }) => type === "message-failed")).toEqual([]);
  });

  test("with the removal of its conversation leaves none", async () => {
    const think: Think = (options) => (options.prompt.length === 1 ? [call("act")] : hang(options));
    using made = messagingFixture({ think, tools: [act] });
    await made.receive(said("long"));
    const [session] = made.agent.sessions.list({}, 1);
    await made.agent.sessions.remove(session!.id);
    await quiet();
    expect([made.agent.sessions.list({}, 1), made.row(1).state]).toEqual([[], "done"]);
  });
});

describe("a message that is dropped", () => {
  test("while its turn runs is not answered, and stays dropped", async () => {
    using made = messagingFixture({ think: hanging });
    await made.receive(said("long"), said("next"));
    await made.messaging.messageAdmin.drop("in-1");
    await quiet();
    expect([made.chat.taken, statesOf(made, 2)]).toEqual([["echo next"], ["dropped", "done"]]);
  });

  test("while it waits is passed over", async () => {
    using made = messagingFixture({ think: hanging });
    await made.receive(said("long"), said("behind"), said("next"));
    await made.messaging.messageAdmin.drop("in-2");
    await made.messaging.messageAdmin.drop("in-1");
    await quiet();
    expect([made.chat.taken, statesOf(made, 3)]).toEqual([["echo next"], ["dropped", "dropped", "done"]]);
  });

  test("while it rests between two attempts holds nobody back, and what it did is remembered", async () => {
    const think: Think = (options) => {
      if (lastAsked(options) !== "bad") return [text(String(options.prompt.length))];
      if (options.prompt.length === 1) return [call("act")];
      throw new SvcError("MODEL_UNREACHABLE");
    };
    using made = messagingFixture({ think, tools: [act], config: { model: { max_retries: 0 } } });
    await made.receive(said("bad"));
    await made.receive(said("next"));
    await made.messaging.messageAdmin.drop("in-1");
    await quiet();
    expect([made.chat.taken, statesOf(made, 2), made.clock.waiting]).toEqual([["5"], ["dropped", "done"], 0]);
    expect(made.store.steps.of(made.row(1).turnId)).toEqual([]);
  });

  test("in the instant in which it is answered has an answer, or none and no trace of one", async () => {
    const outcomes = new Set<string>();
    for (let ticks = 0; ticks < 16; ticks += 1) {
      using made = messagingFixture();
      await made.messaging.receive("chat", [said("hello")]);
      for (let tick = 0; tick < ticks; tick += 1) await new Promise(setImmediate);
      const dropped = await made.messaging.messageAdmin.drop("in-1").then(
        () => "dropped",
        ({ code }: SvcError) => code,
      );
      await quiet();
      const sessions = made.agent.sessions.list({}, 1).length;
      const outcome = [dropped, made.chat.taken.length, sessions, made.row(1).state].join(" ");
      expect(["dropped 0 0 dropped", "MESSAGE_STATE 1 1 done"]).toContain(outcome);
      outcomes.add(outcome);
    }
    expect(outcomes.size).toBe(2);
  });

  test("can be answered after all", async () => {
    using made = messagingFixture({ settings: { isUp: () => false } });
    await made.receive(said("hello"));
    await made.messaging.messageAdmin.drop("in-1");
    made.messaging.reconfigure(made.settings({ isUp: () => true }));
    await quiet();
    expect(made.chat.taken).toEqual([]);
    await made.messaging.messageAdmin.replay("in-1");
    await quiet();
    expect([made.chat.taken, made.row(1).state]).toEqual([["echo hello"], "done"]);
  });
});
