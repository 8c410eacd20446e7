// The platform's own client must be able to live on the fake: what it takes from the real platform, the fake gives, and the other way
// round. A fake that is wrong would make the channel's other tests prove nothing.
import { AppType, Client, EventDispatcher, LoggerLevel, WSClient } from "@larksuiteoapi/node-sdk";
import type { Json } from "@svc/contract";
import { WORKCHAT_APP, workchatMention } from "@svc/testkit/platforms/workchat/events";
import { afterEach, expect, test } from "vitest";
import { DM, NOW_MS, PERSON, platform, SECRETS } from "./fixture.ts";

const ending: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const quiet = { error() {}, warn() {}, info() {}, debug() {}, trace() {} };

/** The SDK's own is one for the whole process, and would keep the tokens of another fake. */
function ownCache() {
  const values = new Map<unknown, unknown>();
  return {
    get: async (key: unknown) => values.get(key),
    set: async (key: unknown, value: unknown) => (values.set(key, value), true),
  };
}

async function official(appSecret = SECRETS.app_secret) {
  const workchat = await platform();
  ending.push(() => workchat.close());
  const options = {
    appId: WORKCHAT_APP.appId,
    appSecret,
    domain: workchat.url,
    logger: quiet,
    loggerLevel: LoggerLevel.error,
  };
  const client = new Client({ ...options, appType: AppType.SelfBuild, cache: ownCache() } as never);
  const connect = (handles: Record<string, (data: Json) => unknown>): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = new WSClient({ ...options, onReady: () => resolve(), onError: reject } as never);
      ending.push(() => socket.close({ force: true }));
      const eventDispatcher = new EventDispatcher({ logger: quiet, loggerLevel: LoggerLevel.error }).register(
        handles as never,
      );
      void socket.start({ eventDispatcher });
    });
  return { workchat, client, connect };
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
};

test("connects, takes an event in one frame and in three, and acknowledges each", async () => {
  const { workchat, connect } = await official();
  const heard: Json[] = [];
  await connect({ "im.message.receive_v1": (data) => void heard.push(data) });
  workchat.write({ id: "1", from: PERSON, text: "hello", atMs: NOW_MS });
  await until(() => workchat.socket.acknowledged.length === 1);
  workchat.socket.send(workchat.socket.acknowledged[0]!, 3);
  await until(() => workchat.socket.acknowledged.length === 2);
  expect(heard).toMatchObject([1, 2].map(() => ({ message: { content: '{"text":"hello"}', chat_id: DM } })));
  expect(workchat.socket.faults).toEqual([]);
});

test("holds its acknowledgement back until the handler is done, and asks for the event again where it failed", async () => {
  const { workchat, connect } = await official();
  const stored = Promise.withResolvers<void>();
  let calls = 0;
  await connect({
    "im.message.receive_v1": async () => {
      calls += 1;
      if (calls === 1) throw new Error("the disk is full");
      await stored.promise;
    },
  });
  workchat.write({ id: "1", from: PERSON, text: "hello", atMs: NOW_MS });
  await until(() => calls === 1);
  workchat.socket.sendAgain();
  await until(() => calls === 2);
  expect(workchat.socket.waiting).toHaveLength(1);
  stored.resolve();
  await until(() => workchat.socket.waiting.length === 0);
});

test("takes presses on buttons", async () => {
  const { workchat, client, connect } = await official();
  const heard: Json[] = [];
  await connect({ "card.action.trigger": (data) => void heard.push(data) });
  const button = (answer: string) => ({
    tag: "button",
    text: { tag: "plain_text", content: answer },
    type: "default",
    behaviors: [{ type: "callback", value: { answer } }],
  });
  const elements = [{ tag: "markdown", content: "**Go**?" }, button("yes"), button("no")];
  await client.im.v1.message.create({
    params: { receive_id_type: "chat_id" },
    data: {
      receive_id: DM,
      msg_type: "interactive",
      content: JSON.stringify({ schema: "2.0", config: { update_multi: true }, body: { elements } }),
      uuid: "one",
    },
  });
  expect(workchat.sent).toMatchObject([{ text: "Go?", buttons: ["yes", "no"] }]);
  workchat.press({ from: PERSON, approved: true, atMs: NOW_MS, id: "p" });
  await until(() => heard.length === 1);
  expect(heard).toMatchObject([{ action: { value: { answer: "yes" } }, operator: { open_id: PERSON } }]);
});

test("sends, replies, changes, reacts, uploads and downloads", async () => {
  const { workchat, client } = await official();
  const card = (content: string): string =>
    JSON.stringify({
      schema: "2.0",
      config: { update_multi: true },
      body: { elements: [{ tag: "markdown", content }] },
    });
  const id = workchat.write({ id: "1", from: PERSON, text: "hi", atMs: NOW_MS, mentions: [workchatMention()] });
  const replied = await client.im.v1.message.reply({
    path: { message_id: id },
    data: { msg_type: "interactive", content: card("one"), uuid: "u1", reply_in_thread: true },
  });
  expect(replied).toMatchObject({ code: 0, data: { chat_id: DM } });
  await client.im.v1.message.patch({ path: { message_id: replied.data!.message_id! }, data: { content: card("two") } });
  const reacted = await client.im.v1.messageReaction.create({
    path: { message_id: id },
    data: { reaction_type: { emoji_type: "OK" } },
  });
  expect(workchat.sent).toMatchObject([{ text: "two", replyTo: id, inThread: true }]);
  expect(workchat.reactions).toEqual([`${id} OK`]);
  const path = { message_id: id, reaction_id: reacted.data!.reaction_id! };
  expect(await client.im.v1.messageReaction.delete({ path })).toMatchObject({ code: 0 });
  expect(workchat.reactionsTakenBack).toEqual([`${id} OK`]);
  const image = await client.im.v1.image.create({ data: { image_type: "message", image: Buffer.from("png") } });
  expect(image?.image_key).toMatch(/^img_v3_/);
  const file = await client.im.v1.file.create({
    data: { file_type: "stream", file_name: "a.txt", file: Buffer.from("txt") },
  });
  const sent = await client.im.v1.message.create({
    params: { receive_id_type: "open_id" },
    data: { receive_id: PERSON, msg_type: "file", content: JSON.stringify(file), uuid: "u2" },
  });
  expect(sent.data?.chat_id).toBe(DM);
  const [message, type, key] = workchat.host(Buffer.from("a picture")).split("/") as [string, string, string];
  const got = await client.im.v1.messageResource.get({
    path: { message_id: message, file_key: key },
    params: { type },
  });
  const chunks: Buffer[] = [];
  for await (const chunk of got.getReadableStream() as AsyncIterable<Buffer>) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe("a picture");
});

test("is refused where the channel is: a wrong secret, a card with a tag in it, a chat without the bot", async () => {
  const { client, workchat } = await official();
  const send = (receive: string, content: string) =>
    client.im.v1.message.create({
      params: { receive_id_type: "chat_id" },
      data: {
        receive_id: receive,
        msg_type: "interactive",
        content: JSON.stringify({
          schema: "2.0",
          config: { update_multi: true },
          body: { elements: [{ tag: "markdown", content }] },
        }),
        uuid: "u",
      },
    });
  const codeOf = (work: Promise<unknown>) =>
    work.then(
      () => 0,
      (error: { response?: { data?: { code?: number } } }) => error.response?.data?.code,
    );
  expect(await codeOf(send(DM, "<at id=all></at>"))).toBe(230099);
  expect(await codeOf(send("oc_elsewhere", "x"))).toBe(230002);
  expect(workchat.sent).toEqual([]);
  const wrong = await official("another-secret");
  await expect(wrong.connect({})).rejects.toThrow("514");
});
