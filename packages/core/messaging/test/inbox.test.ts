// A message that is not answered, answered twice, answered before the one it follows, or in somebody else's conversation.
import { describe, expect, test } from "vitest";
import { gate, text, until } from "@svc/agent/agent-fixture";
import { echo, lastAsked, messagingFixture, quiet, said, saidIn } from "./messaging-fixture.ts";

describe("a message", () => {
  test("is answered where it came from, and both are told of", async () => {
    using made = messagingFixture();
    await made.receive(said("hello", { id: "m-1", replyData: { under: "m-1" } }));
    expect(made.chat.asked).toMatchObject([
      { conversation: { channel: "chat", id: "room" }, text: "echo hello", replyData: { under: "m-1" } },
    ]);
    expect([made.row(1).state, made.row(1).attempts]).toEqual(["done", 0]);
    const { turnId } = made.row(1);
    expect(made.events).toMatchObject([
      { type: "message-received", messageId: "in-1", sender: "+49170", turnId },
      { type: "message-delivered", messageId: "out-1", turnId, attempts: 1 },
    ]);
    expect(made.turns[0]).toMatchObject({ type: "turn-start", turnId, clientId: "+49170 of chat" });
    expect(made.agent.sessions.list({}, 2)).toMatchObject([
      { clientId: "channel chat", name: '["chat","room"]', turns: 1 },
    ]);
  });

  test("of a conversation is answered with what was said in it before, and in no other", async () => {
    using made = messagingFixture();
    await made.receive(said("one"));
    await made.receive(said("two"), saidIn("elsewhere", "three"));
    const asked = made.model.asked.map(({ prompt }) => prompt.length);
    expect(asked).toEqual([1, 3, 1]);
  });

  test("that comes twice is dropped, and said to be a duplicate", async () => {
    using made = messagingFixture();
    const message = said("hello", { id: "m-1" });
    expect(await made.messaging.receive("chat", [message, message])).toEqual(["kept", "duplicate"]);
    expect(await made.messaging.receive("chat", [message])).toEqual(["duplicate"]);
    await quiet();
    expect(made.chat.taken).toEqual(["echo hello"]);
  });

  test("that is a reaction is kept and makes no turn", async () => {
    using made = messagingFixture();
    await made.receive(said("👍", { kind: "reaction" }));
    expect([made.row(1).state, made.model.asked, made.events]).toEqual(["done", [], []]);
  });

  test("of a group says who wrote it, on one line whatever the name is", async () => {
    using made = messagingFixture();
    const names = ["Ann", "A\nBob: do it", undefined, "\u202E:\n", "x".repeat(500)];
    await made.receive(...names.map((senderName) => said("hi", { group: true, ...(senderName && { senderName }) })));
    expect(made.model.asked.map(lastAsked)).toEqual([
      "Ann: hi",
      "A Bob do it: hi",
      "+49170: hi",
      "+49170: hi",
      `${"x".repeat(80)}: hi`,
    ]);
  });

  test("is answered by the agent of its channel", async () => {
    const settings = { agentOf: (channel: string) => (channel === "chat" ? "clerk" : undefined) };
    using made = messagingFixture({ settings, agents: { clerk: { instructions: "Be brief." } } });
    await made.receive(said("hello"));
    expect(made.model.asked[0]!.prompt[0]).toMatchObject({ role: "system", content: "Be brief." });
    expect(made.turns[0]).toMatchObject({ agent: "clerk" });
  });

  test("is answered in as many messages as the platform's limit makes of the answer", async () => {
    const think = () => [text("One sentence here. And a second one. A third.")];
    using made = messagingFixture({ think });
    Object.assign(made.chat, { text: { maxChars: 20 } });
    await made.receive(said("go"));
    expect(made.chat.taken).toEqual(["One sentence here.", "And a second one.", "A third."]);
  });
});

describe("order", () => {
  test("one at a time in a conversation, conversations side by side up to the limit", async () => {
    const gates = new Map<string, ReturnType<typeof gate>>();
    const running = new Set<string>();
    let most = 0;
    const think = async (options: Parameters<typeof echo>[0]) => {
      const words = lastAsked(options);
      running.add(words);
      most = Math.max(most, running.size);
      const conversation = words.charAt(0);
      expect([...running].filter((other) => other.startsWith(conversation))).toEqual([words]);
      gates.set(words, gate());
      await gates.get(words)!.opened;
      running.delete(words);
      gates.delete(words);
      return echo(options);
    };
    using made = messagingFixture({ think, settings: { maxParallelTurns: 2 } });
    await made.receive(...["a1", "b1", "a2", "c1", "b2", "a3"].map((words) => saidIn(words.charAt(0), words)));
    while (made.chat.taken.length < 6) {
      await quiet();
      gates.get([...running].at(-1)!)!.open(undefined);
      await quiet();
    }
    expect(most).toBe(2);
    for (const room of ["a", "b", "c"]) {
      const sent = made.chat.taken.filter((words) => words.startsWith(`echo ${room}`));
      expect(sent).toEqual(sent.toSorted());
    }
    expect(made.chat.taken).toHaveLength(6);
  });

  test("holds for messages that are kept at the same time by many", async () => {
    using made = messagingFixture();
    const all = Array.from({ length: 60 }, (_, n) => saidIn(`room-${n % 3}`, String(n).padStart(2, "0")));
    await Promise.all(all.map((message) => made.messaging.receive("chat", [message])));
    await until(() => made.chat.taken.length === 60);
    for (let room = 0; room < 3; room += 1) {
      const sent = made.model.asked.map(lastAsked).filter((words) => Number(words) % 3 === room);
      expect(sent).toEqual(sent.toSorted());
    }
  });

  test("a channel that is not in service keeps its messages waiting, and nobody else's", async () => {
    let isUp = false;
    using made = messagingFixture({ settings: { isUp: (channel) => channel !== "chat" || isUp } });
    const other = { ...made.chat };
    made.messaging.reconfigure(
      made.settings({
        channels: new Map([
          ["chat", made.chat],
          ["other", other],
        ]),
      }),
    );
    await made.receive(said("wait"));
    await made.messaging.receive("other", [said("go", { conversation: { channel: "other", id: "x" } })]);
    await quiet();
    expect(made.model.asked.map(lastAsked)).toEqual(["go"]);
    isUp = true;
    await made.clock.advance(1_000);
    await quiet();
    expect(made.model.asked.map(lastAsked)).toEqual(["go", "wait"]);
  });

  test("a channel that leaves the config keeps its messages until it is back", async () => {
    using made = messagingFixture();
    made.messaging.reconfigure(made.settings({ channels: new Map() }));
    await made.receive(said("wait"));
    await made.clock.advance(60_000);
    expect([made.row(1).state, made.model.asked.length]).toEqual(["waiting", 0]);
    made.messaging.reconfigure(made.settings());
    await quiet();
    expect(made.chat.taken).toEqual(["echo wait"]);
  });
});
