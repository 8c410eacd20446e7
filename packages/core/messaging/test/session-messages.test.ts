// Somebody asks by HTTP and does not wait: the turn must be his, in the session that he would have had waiting, with the tools'
// view of him; nobody else's session may hear of it, whatever it is called, and who was shut out gets no turn any more.
import type { ClientId, Inbound } from "@svc/contract";
import { keysOfOwner, keyOfConversation, sessionIn } from "@svc/kit";
import { describe, expect, test } from "vitest";
import { sessionMessageOf } from "@svc/agent";
import { act, call, read, text, until } from "@svc/agent/agent-fixture";
import {
  afterKill,
  echo,
  lastAsked,
  messagingFixture,
  type MessagingFixture,
  quiet,
  said,
} from "./messaging-fixture.ts";
import { temporaryHome } from "@svc/testkit/temporary-home";

const ADA = "client-ada" as ClientId;
const BEN = "client-ben" as ClientId;

const asked = (owner: ClientId, words: string, session = "ops") =>
  sessionMessageOf({
    owner,
    session,
    conversation: { channel: "chat", id: `${session}@${owner}` },
    sender: owner,
    text: words,
    replyData: { session },
  });

async function accept(made: MessagingFixture, ...messages: ReturnType<typeof asked>[]): Promise<void> {
  await made.messaging.accept({ channel: "chat", messages });
  await quiet();
}

/** What the model was shown of people, by turn. */
const heard = ({ model }: MessagingFixture): string[][] =>
  model.asked.map(({ prompt }) =>
    prompt.flatMap(({ role, content }) =>
      role === "user" ? (content as { text: string }[]).map((part) => part.text) : [],
    ),
  );

describe("a message whose sender does not wait", () => {
  test("is answered in his session, together with what he asks and waits for, and goes out with what the channel is to know", async () => {
    using made = messagingFixture();
    const signal = new AbortController().signal;
    await made.agent.run({ clientId: ADA, owner: ADA, session: "ops", text: "one", signal });
    await accept(made, asked(ADA, "two"));
    await made.agent.run({ clientId: ADA, owner: ADA, session: "ops", text: "three", signal });
    expect(heard(made)).toEqual([["one"], ["one", "two"], ["one", "two", "three"]]);
    expect(made.chat.asked).toMatchObject([
      { text: "echo two", conversation: { id: "ops@client-ada" }, replyData: { session: "ops" } },
    ]);
    expect(made.turns.filter(({ type }) => type === "turn-start")).toMatchObject([
      { owner: ADA, clientId: ADA, sessionId: "ops" },
      { owner: ADA, clientId: ADA, sessionId: "ops" },
      { owner: ADA, clientId: ADA, sessionId: "ops" },
    ]);
  });

  test("is not heard in another's session of the same name, nor in a conversation that is called so", async () => {
    using made = messagingFixture();
    await accept(made, asked(ADA, "a secret"), asked(BEN, "what do you know?"));
    await made.receive(said("and here?", { conversation: { channel: "chat", id: "ops" }, sender: ADA }));
    await made.receive(said("or here?", { conversation: { channel: "chat", id: "ops@client-ada" }, sender: ADA }));
    expect(heard(made)).toEqual([["a secret"], ["what do you know?"], ["and here?"], ["or here?"]]);
  });

  test("waits for nobody else's turn; those of one session come one after the other", async () => {
    const gates = new Map<string, PromiseWithResolvers<void>>();
    using made = messagingFixture({
      think: async (options) => {
        const gate = Promise.withResolvers<void>();
        gates.set(lastAsked(options), gate);
        await gate.promise;
        return echo(options);
      },
    });
    await accept(made, asked(ADA, "a1"), asked(ADA, "a2"), asked(BEN, "b1"));
    expect([...gates.keys()]).toEqual(["a1", "b1"]);
    gates.get("a1")!.resolve();
    await until(() => gates.has("a2"));
    for (const gate of gates.values()) gate.resolve();
    await quiet();
    expect(made.chat.taken.toSorted()).toEqual(["echo a1", "echo a2", "echo b1"]);
  });

  test("is no command, as it is none of whoever waits; but for /stop, which stops his own turn alone", async () => {
    const gates: PromiseWithResolvers<void>[] = [];
    using made = messagingFixture({
      think: async (options) => {
        if (lastAsked(options) !== "long") return echo(options);
        gates.push(Promise.withResolvers<void>());
        await gates.at(-1)!.promise;
        return echo(options);
      },
    });
    await accept(made, asked(ADA, "/new"));
    expect(made.chat.taken).toEqual(["echo /new"]);
    await accept(made, asked(ADA, "long"), asked(BEN, "long"));
    await until(() => gates.length === 2);
    await accept(made, asked(ADA, "/stop"));
    await until(() => made.chat.taken.includes("Stopped."));
    for (const gate of gates) gate.resolve();
    await until(() => made.chat.taken.includes("echo long"));
    expect(made.chat.taken).toEqual(["echo /new", "Stopped.", "echo long"]);
    expect(made.chat.asked.at(-1)).toMatchObject({ conversation: { id: "ops@client-ben" } });
  });

  test("that fails tells him so by the same way", async () => {
    using made = messagingFixture({
      think: () => {
        throw Object.assign(new Error("no"), { statusCode: 401, isRetryable: false });
      },
    });
    await accept(made, asked(ADA, "hello"));
    expect(made.chat.asked).toMatchObject([{ text: expect.stringMatching(/^Sorry/), replyData: { session: "ops" } }]);
    expect(made.row(1)).toMatchObject({ state: "failed", error: "MODEL_REFUSED" });
  });

  test("is answered after a kill, once", async () => {
    using home = temporaryHome();
    let folder = "";
    let isKilled = false;
    const first: MessagingFixture = messagingFixture({
      think: (options) => {
        if (!isKilled) afterKill(folder, home.path);
        isKilled = true;
        return echo(options);
      },
    });
    folder = first.folder;
    await accept(first, asked(ADA, "do not forget me"));
    first[Symbol.dispose]();
    using next = messagingFixture({ folder: home.path });
    await until(() => next.chat.taken.length > 0);
    expect(next.chat.taken).toEqual(["echo do not forget me"]);
    expect(next.turns[0]).toMatchObject({ owner: ADA, sessionId: "ops" });
  });

  test("who asks a person asks in no conversation: who sent it could not answer there", async () => {
    const answers: unknown[] = [];
    using made = messagingFixture({
      asks: true,
      tools: [read, act],
      verdict: "ask",
      think: ({ prompt }) => {
        const last = prompt.at(-1)!;
        if (last.role !== "tool") return [call("act", {})];
        answers.push(last.content);
        return [text("done")];
      },
    });
    await accept(made, asked(ADA, "act!"));
    await until(() => made.store.approvals.read(1) !== undefined);
    expect(made.chat.asked).toEqual([]);
    await accept(made, asked(ADA, "yes"), asked(BEN, "yes"));
    expect(made.store.approvals.read(1)).toMatchObject({ status: "waiting" });
  });
});

describe("who was shut out", () => {
  test("gets no turn for what waits, nor an answer for what runs; others do", async () => {
    const gates: PromiseWithResolvers<void>[] = [];
    using made = messagingFixture({
      think: async (options) => {
        gates.push(Promise.withResolvers<void>());
        await gates.at(-1)!.promise;
        return echo(options);
      },
    });
    await accept(made, asked(ADA, "one"), asked(ADA, "two"), asked(ADA, "three", "other"), asked(BEN, "four"));
    await until(() => gates.length === 3);
    await made.messaging.shutOut(ADA);
    for (const gate of gates) gate.resolve();
    await until(() => made.chat.taken.length > 0);
    await quiet();
    expect(made.chat.taken).toEqual(["echo four"]);
    expect([1, 2, 3, 4].map((n) => made.row(n).state)).toEqual(["dropped", "dropped", "dropped", "done"]);
    expect(heard(made).flat()).not.toContain("two");
  });

  test("while no daemon ran: what waited is dropped by the next start", async () => {
    using home = temporaryHome();
    const first = messagingFixture({ idle: true });
    await accept(first, asked(ADA, "one"), asked(BEN, "two"));
    afterKill(first.folder, home.path);
    first[Symbol.dispose]();
    using next = messagingFixture({ folder: home.path, idle: true });
    next.gone.add(ADA);
    next.messaging.start();
    await until(() => next.chat.taken.length > 0 && next.row(1).state !== "waiting");
    expect(next.chat.taken).toEqual(["echo two"]);
    expect(next.row(1)).toMatchObject({ state: "dropped" });
    expect(next.model.asked).toHaveLength(1);
  });
});

test("no channel can make the key of a session", () => {
  const { conversationKey } = asked(ADA, "x", 'a"],"b');
  expect(sessionIn(conversationKey)).toEqual({ owner: ADA, session: 'a"],"b' });
  expect(conversationKey.startsWith(keysOfOwner(ADA))).toBe(true);
  expect(conversationKey.startsWith(keysOfOwner("client" as ClientId))).toBe(false);
  const forged = { channel: "chat", id: conversationKey, thread: conversationKey };
  expect(sessionIn(keyOfConversation(forged))).toBeUndefined();
  expect(sessionIn('{"notice":["chat","x"]}')).toBeUndefined();
  // What a channel hands over is a body: an owner in there is none.
  const body = { ...said("hi"), owner: ADA, session: "ops" } as Inbound;
  expect(sessionIn(keyOfConversation(body.conversation))).toBeUndefined();
});
