// Commands said on a channel: one that a model sees, that overtakes, or that is half done.
import { SvcError } from "@svc/contract";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { commandOf } from "@svc/agent";
import { gate } from "@svc/agent/agent-fixture";
import { afterKill, echo, messagingFixture, quiet, said, type Think } from "./messaging-fixture.ts";

const NEW = "A new conversation begins.";
/** "big" answers, and "small" may; each says its name. */

describe("what is a command", () => {
  test.each<[string, object | undefined]>([
    ["/new", { name: "new" }],
    [" /Reset\n", { name: "new" }],
    ["/MODEL", { name: "model" }],
    ["/model  Small one ", { name: "model", choice: "Small one" }],
    ["/status", { name: "status" }],
    ["/help", { name: "help" }],
    ["/start", { name: "start" }],
    ["/news", undefined],
    ["/new please", undefined],
    ["new", undefined],
    ["/model\nsmall", undefined],
    ["see /new", undefined],
    ["//new", undefined],
    ["/", undefined],
    ["/start deep-link", undefined],
    [`/model ${"x".repeat(300)}`, undefined],
  ])("%j", (words, expected) => expect(commandOf(words)).toEqual(expected));

  test("what is no command is asked of the model as it is", async () => {
    using made = messagingFixture();
    await made.receive(said("/unknown"), said("/new please"));
    expect(made.chat.taken).toEqual(["echo /unknown", "echo /new please"]);
  });

  test("a file that comes with the word is for the agent, and so is a button with such a label", async () => {
    using made = messagingFixture();
    const media = [{ kind: "image", ref: "r", placeholder: "[IMAGE]" }] as const;
    await made.receive(said("/new", { media }), said("/new", { choice: { prompt: "ap-1", approved: true } }));
    expect([made.model.asked.length, made.chat.taken.includes(NEW)]).toEqual([2, false]);
  });

  test("in a group it is one too", async () => {
    using made = messagingFixture();
    await made.receive(said("/new", { group: true, senderName: "Ann" }));
    expect([made.chat.taken, made.model.asked]).toEqual([[NEW], []]);
  });
});

describe("a command", () => {
  test("is settled with its answer, in one transaction, and is no turn", async () => {
    using made = messagingFixture();
    await made.receive(said("/help", { replyData: 7 }));
    expect(made.chat.asked).toMatchObject([{ text: expect.stringContaining("/model <name>") as string, replyData: 7 }]);
    expect([made.row(1).state, made.row(1).attempts, made.model.asked, made.turns]).toEqual(["done", 0, [], []]);
    expect(made.agent.sessions.list({}, 1)).toEqual([]);
  });

  test("waits for the turn before it, and what comes after waits for it", async () => {
    const open = gate();
    const think: Think = async (options) => (await open.opened, echo(options));
    using made = messagingFixture({ think });
    await made.receive(said("one"), said("/new"), said("two"));
    expect(made.chat.taken).toEqual([]);
    open.open();
    await quiet();
    expect(made.chat.taken).toEqual(["echo one", NEW, "echo two"]);
    expect(made.model.asked.map(({ prompt }) => prompt.length)).toEqual([1, 1]);
  });

  test("waits behind a message that rests, and a /stop before it ends that", async () => {
    using made = messagingFixture({
      think: () => Promise.reject(new SvcError("MODEL_UNREACHABLE")),
      config: { model: { max_retries: 0 } },
    });
    await made.receive(said("one"), said("/status"));
    expect(made.chat.taken).toEqual([]);
    await made.receive(said("/stop"));
    expect(made.chat.taken).toEqual(["Stopped."]);
    await made.receive(said("/help"));
    expect(made.chat.taken).toHaveLength(2);
  });

  test("that the disk refuses is settled later, whole", async () => {
    const disk = { isFull: false };
    using made = messagingFixture({
      wrap: (store) => ({
        ...store,
        write: (change) => (disk.isFull ? Promise.reject(new SvcError("STORE_FULL")) : store.write(change)),
      }),
    });
    await made.receive(said("one"));
    // On disk, and not yet begun.
    await made.messaging.receive("chat", [said("/new")]);
    disk.isFull = true;
    await quiet();
    expect([made.chat.taken, made.agent.sessions.list({}, 2)]).toMatchObject([
      ["echo one"],
      [{ name: '["chat","room"]' }],
    ]);
    disk.isFull = false;
    await made.pass(5_000);
    expect([made.chat.taken, made.agent.sessions.list({}, 2)]).toMatchObject([
      ["echo one", NEW],
      [{ name: '["chat","room"].1' }],
    ]);
  });

  test("that a kill left behind is settled once by the next process", async () => {
    const home = temporaryHome();
    using made = messagingFixture({ idle: true });
    await made.receive(said("/new"), said("hello"));
    afterKill(made.folder, home.path);
    using next = messagingFixture({ folder: home.path });
    await quiet();
    expect(next.chat.taken).toEqual([NEW, "echo hello"]);
    home.remove();
  });

  test("that is dropped while it waits is passed over", async () => {
    const open = gate();
    using made = messagingFixture({ think: async (options) => (await open.opened, echo(options)) });
    await made.receive(said("one"), said("/new"), said("two"));
    await made.messaging.messageAdmin.drop("in-2");
    open.open();
    await quiet();
    expect([made.chat.taken, made.row(2).state]).toEqual([["echo one", "echo two"], "dropped"]);
  });

  test("that is dropped in the instant in which it is settled is settled whole, or not at all", async () => {
    const outcomes = new Set<string>();
    for (let ticks = 0; ticks < 12; ticks += 1) {
      using made = messagingFixture();
      await made.receive(said("one"));
      await made.messaging.receive("chat", [said("/new")]);
      for (let tick = 0; tick < ticks; tick += 1) await new Promise(setImmediate);
      const dropped = await made.messaging.messageAdmin.drop("in-2").then(
        () => "dropped",
        ({ code }: SvcError) => code,
      );
      await quiet();
      const outcome = [dropped, made.chat.taken.length, made.agent.sessions.list({}, 2)[0]!.name, made.row(2).state];
      outcomes.add(outcome.join(" "));
    }
    expect([...outcomes].toSorted()).toEqual([
      'MESSAGE_STATE 2 ["chat","room"].1 done',
      'dropped 1 ["chat","room"] dropped',
    ]);
  });

  test("to an agent that the config does not have fails like a message", async () => {
    using made = messagingFixture({ settings: { agentOf: () => "gone" } });
    await made.receive(said("/help"));
    expect(made.chat.taken).toEqual([expect.stringMatching(/^Sorry, .*no agent with this name/)]);
    expect(made.row(1)).toMatchObject({ state: "failed", error: "AGENT_UNKNOWN" });
  });

  test("shows no typing and is not marked as read", async () => {
    using made = messagingFixture();
    const told: string[] = [];
    const note = (what: string) => async () => void told.push(what);
    Object.assign(made.chat, {
      typing: { lastsMs: 5_000, start: note("typing") },
      readMarks: { mark: note("read"), clear: note("cleared") },
    });
    await made.receive(said("/status", { id: "1" }));
    await made.pass(1_000);
    expect(told).toEqual([]);
  });

  test("/start greets, and says what /help says", async () => {
    using made = messagingFixture();
    await made.receive(said("/start"), said("/help"));
    const [greeting, help] = made.chat.taken as [string, string];
    expect(greeting).toContain(help);
    expect(help.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "/new",
      "/model",
      "/model",
      "/status",
      "/stop",
      "/help",
    ]);
  });
});
