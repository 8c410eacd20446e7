// A message whose turn fails: given up too early, tried for ever, answered with an apology twice, or forgotten.
import { SvcError } from "@svc/contract";
import type { Store } from "@svc/store";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, onTestFinished, test } from "vitest";
import { suspectDelayMs } from "@svc/agent";
import { act, call, hang, text } from "@svc/agent/agent-fixture";
import {
  afterKill,
  down,
  echo,
  failing,
  type MessagingFixture,
  messagingFixture,
  quiet,
  said,
  saidIn,
  status,
  type Think,
} from "./messaging-fixture.ts";

const config = { model: { max_retries: 0 } };

describe("a message whose turn fails", () => {
  test.each([
    ["a wrong key", () => status(401), "MODEL_REFUSED", 1],
    ["an answer that is none, twice", undefined, "TURN_FAILED", 2],
  ])("in a way that stays is over at once: %s", async (_, error, code, attempts) => {
    const think: Think = error ? failing(9, error) : () => [text(" ")];
    using made = messagingFixture({ config, think });
    await made.receive(said("hello"));
    await made.pass(20_000);
    expect([made.row(1).state, made.row(1).attempts, made.row(1).error]).toEqual(["failed", attempts, code]);
    expect(made.chat.taken).toHaveLength(1);
  });

  test("without any agent of that name is over, and can be tried again when there is one", async () => {
    using made = messagingFixture({ settings: { agentOf: () => "nobody" } });
    await made.receive(said("hello"));
    expect(made.chat.taken).toEqual([
      "Sorry, this message could not be answered: there is no agent with this name in the config.",
    ]);
    made.messaging.reconfigure(made.settings({ agentOf: () => undefined }));
    await made.messaging.messageAdmin.replay("in-1");
    await quiet();
    expect(made.chat.taken.slice(1)).toEqual(["echo hello"]);
  });

  test("that is replayed and fails again does not bother its sender again", async () => {
    using made = messagingFixture({ config, think: failing(9, () => status(401)) });
    await made.receive(said("hello"));
    await made.messaging.messageAdmin.replay("in-1");
    await quiet();
    expect([made.model.asked.length, made.chat.taken.length]).toEqual([2, 1]);
    expect(made.row(1).state).toBe("failed");
  });

  test("shows no words of the provider, and no secret, to anybody", async () => {
    const error = () =>
      Object.assign(status(401), { responseBody: "the key sk-secret is wrong", message: "sk-secret" });
    using made = messagingFixture({ config, think: failing(9, error) });
    await made.receive(said("hello"));
    expect(made.chat.taken).toEqual([
      "Sorry, this message could not be answered: the model provider refused the request.",
    ]);
    expect(made.log.text() + JSON.stringify(made.events)).not.toContain("sk-secret");
  });

  test("after something acted in it keeps that in the conversation", async () => {
    const think: Think = ({ prompt }) => {
      if (prompt.length === 1) return [call("act")];
      if (prompt.at(-1)!.role === "tool") throw status(401);
      return [text(String(prompt.length))];
    };
    using made = messagingFixture({ config, think, tools: [act] });
    await made.receive(said("go"));
    await made.receive(said("and now?"));
    expect(made.chat.taken[1]).toBe("5");
  });
});

describe("a full disk", () => {
  /** Refuses what `isFull` says, as the disk does: nothing of it is done. */
  function filling(store: Store, isFull: () => boolean): Store {
    return {
      ...store,
      writable: () => !isFull(),
      write: (change) => (isFull() ? Promise.reject(new SvcError("STORE_FULL")) : store.write(change)),
    };
  }

  test("begins no turn, and is no fault of the message", async () => {
    let isFull = false;
    using made = messagingFixture({ wrap: (store) => filling(store, () => isFull) });
    await made.messaging.receive("chat", [said("hello")]);
    isFull = true;
    await quiet();
    await made.clock.advance(600_000);
    expect(made.model.asked).toHaveLength(0);
    isFull = false;
    await made.clock.advance(1_000);
    await quiet();
    expect([made.row(1).attempts, made.chat.taken]).toEqual([0, ["echo hello"]]);
  });

  test("in the middle of a turn makes it go on later, however long that takes", async () => {
    let isFull = false;
    using made = messagingFixture({
      wrap: (store) => filling(store, () => isFull),
      think: (options) => ((isFull = made.model.asked.length < 8), echo(options)),
    });
    await made.receive(said("hello"));
    for (let times = 0; times < 8; times += 1) {
      isFull = false;
      await made.clock.advance(2_000);
      await quiet();
    }
    expect([made.row(1).state, made.row(1).attempts, made.chat.taken]).toEqual(["done", 0, ["echo hello"]]);
  });

  test("when there is an apology to keep does not swallow it", async () => {
    let isFull = false;
    using made = messagingFixture({
      config,
      wrap: (store) => filling(store, () => isFull),
      think: () => {
        isFull = true;
        throw status(401);
      },
    });
    await made.receive(said("hello"));
    expect(made.row(1).state).toBe("waiting");
    isFull = false;
    await made.clock.advance(1_000);
    await quiet();
    expect([made.model.asked.length, made.row(1).state, made.chat.taken.length]).toEqual([1, "failed", 1]);
  });
});

describe("a shutdown", () => {
  test("waits for the turn that runs, begins no other, and the next process answers the rest", async () => {
    const target = temporaryHome();
    const answer = Promise.withResolvers<void>();
    using made = messagingFixture({ think: async (options) => (await answer.promise, echo(options)) });
    await made.receive(said("one"), said("two"));
    let isStopped = false;
    const stopped = made.messaging.stop(30_000).then(() => (isStopped = true));
    await quiet();
    expect(isStopped).toBe(false);
    answer.resolve();
    await stopped;
    expect([made.row(1).state, made.row(2).state, made.model.asked.length]).toEqual(["done", "waiting", 1]);
    afterKill(made.folder, target.path);
    using next = messagingFixture({ folder: target.path });
    await quiet();
    expect(next.chat.taken).toEqual(["echo one", "echo two"]);
    target.remove();
  });

  test("calls off what takes longer, and that is no attempt", async () => {
    const target = temporaryHome();
    using made = messagingFixture({ think: hang });
    await made.receive(said("one"));
    const stopped = made.messaging.stop(5_000);
    await made.clock.advance(5_000);
    await stopped;
    expect([made.row(1).state, made.row(1).attempts, made.clock.waiting]).toEqual(["waiting", 0, 0]);
    afterKill(made.folder, target.path);
    using next = messagingFixture({ folder: target.path });
    await quiet();
    expect([next.row(1).attempts, next.chat.taken]).toEqual([0, ["echo one"]]);
    target.remove();
  });

  test("does not wait for a message that rests", async () => {
    using made = messagingFixture({ config, think: failing(9, down) });
    await made.receive(said("one"));
    await made.messaging.stop(30_000);
    expect(made.clock.waiting).toBe(0);
  });
});

describe("a message that the process dies of", () => {
  /** The home after processes that died while they answered these, one after each of the rests. */
  async function homeAfter(
    messages: Parameters<MessagingFixture["receive"]>,
    delaysMs: readonly number[],
  ): Promise<string> {
    const homes = [undefined, ...delaysMs].map(() => temporaryHome());
    onTestFinished(() => homes.forEach((home) => home.remove()));
    using first = messagingFixture({ think: hang });
    await first.receive(...messages);
    afterKill(first.folder, homes[0]!.path);
    for (const [index, delayMs] of delaysMs.entries()) {
      using again = messagingFixture({ folder: homes[index]!.path, think: hang });
      await quiet();
      await again.pass(delayMs);
      afterKill(again.folder, homes[index + 1]!.path);
    }
    return homes.at(-1)!.path;
  }
  const RESTS_MS = [1, 2, 3, 4].map(suspectDelayMs);

  test("is over after the fifth time; its sender is told once, whatever dies then", async () => {
    const homes = [temporaryHome(), temporaryHome()] as const;
    // Dies once more before the word to the sender is on disk.
    using silent = messagingFixture({ folder: await homeAfter([said("deadly")], RESTS_MS), idle: true });
    expect(silent.row(1)).toMatchObject({ state: "failed", error: "TURN_CRASHED", attempts: 5 });
    afterKill(silent.folder, homes[0].path);
    using last = messagingFixture({ folder: homes[0].path });
    await quiet();
    expect(last.model.asked).toHaveLength(0);
    expect(last.chat.taken).toEqual([
      expect.stringContaining("Sorry, this message could not be answered: the process crashed"),
    ]);
    expect(last.events).toMatchObject([{ type: "message-failed", messageId: "in-1", code: "TURN_CRASHED" }, {}]);
    afterKill(last.folder, homes[1].path);
    using after = messagingFixture({ folder: homes[1].path });
    await quiet();
    expect([after.chat.taken, after.answersTo(1).length]).toEqual([[], 1]);
    for (const home of homes) home.remove();
  });

  test("is told to its sender before the next answer, also when the disk takes that later", async () => {
    const folder = await homeAfter([said("deadly"), said("next")], RESTS_MS);
    let refused = 1;
    const wrap = (store: Store): Store => ({
      ...store,
      write: (change) => (refused-- > 0 ? Promise.reject(new SvcError("STORE_FULL")) : store.write(change)),
    });
    using last = messagingFixture({ folder, wrap });
    await quiet();
    await last.pass(1_000);
    expect(last.chat.taken).toEqual([expect.stringContaining("Sorry"), "echo next"]);
  });

  test("is not tried by starts that end within seconds, and does not use up its tries with them", async () => {
    using last = messagingFixture({ folder: await homeAfter([said("deadly")], Array(5).fill(1_500)) });
    await last.pass(2_000);
    expect(last.chat.taken).toEqual(["echo deadly"]);
  });

  test("holds back nobody but its own conversation", async () => {
    const think: Think = async (options) =>
      JSON.stringify(options.prompt).includes("deadly") ? hang(options) : echo(options);
    using made = messagingFixture({ think });
    await made.receive(saidIn("a", "deadly"), saidIn("b", "fine"));
    expect(made.chat.taken).toEqual(["echo fine"]);
  });
});
