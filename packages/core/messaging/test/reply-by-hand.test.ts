// A person answers in the place of the model: to a stranger, twice, beside the model's own answer, or with nothing left of it. And what
// people wrote whose messages failed.
import type { ClientId } from "@svc/contract";
import type { Author } from "@svc/store";
import { describe, expect, test } from "vitest";
import { act, call, failure, hang, rolesOf, text, until } from "@svc/agent/agent-fixture";
import {
  down,
  echo,
  failing,
  lastAsked,
  type MessagingFixture,
  messagingFixture,
  quiet,
  said,
  status,
} from "./messaging-fixture.ts";

const config = { model: { max_retries: 0 } };
const author: Author = { kind: "device", id: "d-1", name: "desk" };

const sessionOf = ({ agent }: MessagingFixture) => agent.sessions.list({}, 1)[0]!;
const shown = (made: MessagingFixture) =>
  made.agent.sessions
    .messages(sessionOf(made).id, { limit: 50 })
    .messages.map(({ role, text, state, kind, author }) => [role, text, state, kind, author?.id ?? null]);
const reply = (made: MessagingFixture, words: string, id = "room") => {
  const conversation = { channel: "chat", id };
  const owner = made.agent.sessions.list({}, 1)[0]?.clientId ?? ("nobody" as ClientId);
  return made.messaging.replyByHand({ owner, conversation, text: words, author, by: "desk" });
};

describe("a message that failed", () => {
  test("stays in its conversation; replayed, it is told to the model once", async () => {
    using made = messagingFixture({ config, think: failing(1, () => status(401)) });
    await made.receive(said("hello"));
    expect(shown(made)).toEqual([["user", "hello", "failed", "message", expect.any(String)]]);
    await made.messaging.messageAdmin.replay("in-1");
    await quiet();
    await made.receive(said("and you?"));
    expect(rolesOf(made.model.asked.at(-1))).toEqual(["user", "assistant", "user"]);
    expect(shown(made).map(([, text]) => text)).toEqual(["hello", "hello", "echo hello", "and you?", "echo and you?"]);
  });

  test("and is tried again waits in its conversation meanwhile", async () => {
    using made = messagingFixture({
      config,
      think: (options) => (lastAsked(options) === "first" ? echo(options) : failing(9, down)(options)),
    });
    await made.receive(said("first"));
    await made.receive(said("second"));
    expect(shown(made).at(-1)).toEqual(["user", "second", "waiting", "message", expect.any(String)]);
    expect(made.agent.sessions.messages(sessionOf(made).id, { limit: 9 }).followUps).toBeUndefined();
  });
});

describe("a reply by hand", () => {
  test("goes to those who wrote, with what their message came with, once; the model is told of it", async () => {
    using made = messagingFixture();
    await made.receive(said("hello"));
    const { turnId, deliveries } = await reply(made, "I am a person");
    await quiet();
    expect(made.chat.taken).toEqual(["echo hello", "I am a person"]);
    expect(deliveries).toMatchObject([{ turnId, conversation: { channel: "chat", id: "room" } }]);
    expect(shown(made).at(-1)).toEqual(["assistant", "I am a person", "done", "by_hand", "d-1"]);
    await made.receive(said("oh"));
    expect(rolesOf(made.model.asked.at(-1))).toEqual(["user", "assistant", "user", "assistant", "user"]);
    expect(made.store.audit.list(1)).toMatchObject([{ kind: "reply_by_hand", data: { by: "desk", turn: turnId } }]);
  });

  test("answers what waits for the model: that is asked no more, over a restart too", async () => {
    let isDown = false;
    const think = failing(99, down);
    using made = messagingFixture({ config, think: (options) => (isDown ? think(options) : echo(options)) });
    await made.receive(said("first"));
    isDown = true;
    await made.receive(said("second"));
    await made.receive(said("third"));
    await reply(made, "both of it");
    isDown = false;
    await made.pass(60_000);
    expect(made.chat.taken).toEqual(["echo first", "both of it"]);
    expect([made.row(2).state, made.row(3).state]).toEqual(["done", "done"]);
    expect(
      shown(made)
        .slice(2)
        .map(([role, text]) => [role, text]),
    ).toEqual([
      ["user", "second"],
      ["user", "third"],
      ["assistant", "both of it"],
    ]);
    await made.receive(said("fourth"));
    expect(made.chat.taken.at(-1)).toBe("echo fourth");
  });

  test("is refused where no one wrote, while the model answers, and when a message that waits has begun to act", async () => {
    using made = messagingFixture({ config, think: (options) => hang(options) });
    expect((await failure(reply(made, "hello", "stranger"))).code).toBe("CHANNEL_CANNOT");
    const strange = made.messaging.replyByHand({
      owner: "x" as ClientId,
      conversation: { channel: "pager", id: "room" },
      text: "x",
      author,
      by: "desk",
    });
    expect((await failure(strange)).code).toBe("CHANNEL_UNKNOWN");
    await made.receive(said("hello"));
    await until(() => made.model.asked.length === 1);
    expect((await failure(reply(made, "x"))).code).toBe("TURN_RUNNING");
    expect([made.chat.taken, made.store.audit.list(9)]).toEqual([[], []]);

    let asked = 0;
    const think = () => {
      asked += 1;
      if (asked === 1) return [call("act")];
      throw down();
    };
    using acting = messagingFixture({ config, think, tools: [act] });
    await acting.receive(said("go"));
    await until(() => asked === 2);
    await quiet();
    expect((await failure(reply(acting, "x"))).code).toBe("TURN_RUNNING");
  });

  test("that the disk does not take is not sent, and leaves what waits as it was", async () => {
    let isFull = false;
    let isDown = true;
    const think = failing(99, down);
    using made = messagingFixture({
      config,
      think: (options) => (isDown ? think(options) : [text("from the model")]),
      wrap: (store) => ({
        ...store,
        write: (change) =>
          store.write(() => {
            const made = change();
            if (isFull) throw new Error("full");
            return made;
          }),
      }),
    });
    await made.receive(said("hello"));
    isFull = true;
    expect((await failure(reply(made, "by hand"))).code).toBe("STORE_FAILED");
    isFull = isDown = false;
    await made.pass(600_000);
    expect(made.chat.taken).toEqual(["from the model"]);
  });
});
