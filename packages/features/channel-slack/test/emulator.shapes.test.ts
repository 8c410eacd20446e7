// The fake is what all other tests believe: the platform's own client must find in it what it finds in an emulator that is not ours.
// oxlint-disable unicorn/require-post-message-target-origin -- it posts to a chat, not to a window
import { SocketModeClient } from "@slack/socket-mode";
import type { WebClient } from "@slack/web-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { quietLog } from "../src/web-api.ts";
import { ADMIN, clientOf, GENERAL, type OpenWorkspace, startEmulator, startOurs } from "./emulator/workspaces.ts";
import { NOW_MS, TOKENS } from "./fixture.ts";

/** What a method answers, as far as anyone may rely on it: its fields, and what kind of value each has. */
type Outline = string | { readonly [field: string]: Outline } | readonly Outline[];

function outlineOf(value: unknown, fields: readonly string[]): Outline {
  const entries = fields.map((field) => {
    const [name = "", ...inner] = field.split(".");
    const found = (value as Record<string, unknown>)[name];
    if (inner.length === 0) return [name, kindOf(found)] as const;
    const of = Array.isArray(found) ? found : [found];
    return [field, of.map((one) => kindOf((one as Record<string, unknown> | undefined)?.[inner.join(".")]))] as const;
  });
  return Object.fromEntries(entries);
}

const kindOf = (value: unknown): string => {
  if (typeof value === "string")
    return /^\d{10}\.\d{6}$/.test(value) ? "ts" : /^[A-Z][A-Z0-9]{7,}$/.test(value) ? `id ${value[0]}` : "text";
  return Array.isArray(value) ? "list" : typeof value;
};

const errorOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no error",
    (error: { readonly data?: { readonly error?: unknown } }) => error.data?.error,
  );

/** Each step with the fields that we use, or the error that we mind. */
async function script(client: WebClient): Promise<Record<string, unknown>> {
  const auth = await client.auth.test();
  const posted = await client.chat.postMessage({ channel: GENERAL, text: "Hello &lt;b&gt;", unfurl_links: false });
  const ts = String(posted.ts);
  const reply = await client.chat.postMessage({ channel: GENERAL, text: "A reply", thread_ts: ts });
  const replies = await client.conversations.replies({ channel: GENERAL, ts });
  const history = await client.conversations.history({ channel: GENERAL, limit: 1 });
  const updated = await client.chat.update({ channel: GENERAL, ts, text: "Changed" });
  const react = { channel: GENERAL, timestamp: ts, name: "eyes" };
  await client.reactions.add(react);
  const again = await errorOf(client.reactions.add(react));
  const reacted = await client.conversations.history({ channel: GENERAL, limit: 1 });
  await client.reactions.remove(react);
  const gone = await errorOf(client.reactions.remove(react));
  const opened = await client.conversations.open({ users: ADMIN });
  const direct = await client.chat.postMessage({ channel: String(opened.channel?.id), text: "Direct" });
  const user = await client.users.info({ user: ADMIN });
  const blocks = [
    { type: "section", text: { type: "mrkdwn", text: "Deploy?" } },
    {
      type: "actions",
      elements: [{ type: "button", text: { type: "plain_text", text: "Yes" }, action_id: "yes", value: "1" }],
    },
  ];
  const asked = await client.chat.postMessage({ channel: GENERAL, text: "Deploy?", blocks: blocks as never });
  const uploaded = await client.filesUploadV2({
    channel_id: GENERAL,
    thread_ts: ts,
    filename: "a.txt",
    content: "abc",
  });
  const file = uploaded.files[0]?.files?.[0];
  const info = await client.files.info({ file: String(file?.id) });
  return {
    auth: outlineOf(auth, ["ok", "url", "team", "user", "team_id", "user_id", "bot_id"]),
    who: [auth.user, auth.user_id, auth.bot_id, auth.team],
    posted: outlineOf(posted, ["ok", "channel", "ts", "message.text", "message.ts", "message.user", "message.type"]),
    said: [posted.message?.text, updated.text, posted.channel],
    reply: outlineOf(reply, ["ok", "channel", "ts", "message.thread_ts"]),
    replies: outlineOf(replies, ["ok", "messages.ts", "messages.text", "messages.user", "has_more"]),
    threads: replies.messages?.map((message) => [message.text, message.reply_count ?? 0]),
    history: outlineOf(history, ["ok", "messages.ts", "messages.text", "has_more"]),
    top: history.messages?.map(({ text }) => text),
    updated: outlineOf(updated, ["ok", "channel", "ts", "text"]),
    isSame: [updated.ts === ts, updated.channel === GENERAL],
    again,
    reactions: reacted.messages?.[0]?.reactions,
    gone,
    opened: outlineOf(opened.channel, ["id"]),
    direct: [direct.channel === opened.channel?.id],
    user: outlineOf(user.user, ["id", "name", "real_name", "profile", "is_bot", "deleted"]),
    asked: outlineOf(asked, ["ok", "message.blocks"]),
    file: outlineOf(file, ["id", "name", "mimetype", "size", "url_private", "url_private_download", "title"]),
    info: outlineOf(info.file, ["id", "name", "size", "url_private_download"]),
    sizes: [file?.size, info.file?.size, info.file?.name],
    errors: {
      channel: await errorOf(client.chat.postMessage({ channel: "C0NOWHERE1", text: "x" })),
      text: await errorOf(client.chat.postMessage({ channel: GENERAL, text: "" })),
      message: await errorOf(client.chat.update({ channel: GENERAL, ts: "1700000000.000100", text: "x" })),
      emoji: await errorOf(client.reactions.add({ ...react, name: "" })),
      reacting: await errorOf(client.reactions.add({ ...react, timestamp: "1700000000.000100" })),
      person: await errorOf(client.conversations.open({ users: "U0NOBODY1" })),
      name: await errorOf(client.users.info({ user: "U0NOBODY1" })),
      file: await errorOf(client.files.info({ file: "F0NOTHING1" })),
      upload: await errorOf(
        client.files.completeUploadExternal({ files: [{ id: "F0NOTHING1" }], channel_id: GENERAL }),
      ),
    },
  };
}

describe("the same script of the platform's own client", () => {
  let [ours, emulated]: Record<string, unknown>[] = [];
  const open: OpenWorkspace[] = [];
  beforeAll(async () => {
    open.push(await startOurs(), await startEmulator());
    ours = await script(clientOf(open[0]!));
    emulated = await script(clientOf(open[1]!));
  });
  afterAll(async () => {
    for (const workspace of open) await workspace[Symbol.asyncDispose]();
  });

  const STEPS =
    "auth who posted said reply replies threads history top updated isSame again reactions gone opened direct user asked file info sizes errors";

  test.each(STEPS.split(" "))("finds the same: %s", (step) => {
    expect(ours?.[step]).toBeDefined();
    expect(ours?.[step]).toEqual(emulated?.[step]);
  });
});

describe("the fake alone", () => {
  // The emulator has no thread_ts here, and no message where there is no channel: the platform's documents say otherwise.
  test("shows a thread's first message as one of it, and knows no channel before no message", async () => {
    await using slack = await startOurs();
    const client = clientOf(slack);
    const { ts = "" } = await client.chat.postMessage({ channel: GENERAL, text: "Hello" });
    await client.chat.postMessage({ channel: GENERAL, text: "A reply", thread_ts: ts });
    const { messages } = await client.conversations.replies({ channel: GENERAL, ts });
    expect(messages?.map((message) => message.thread_ts)).toEqual([ts, ts]);
    expect(await errorOf(client.chat.update({ channel: "C0NOWHERE1", ts, text: "x" }))).toBe("channel_not_found");
  });

  test("knows nobody without a token, or with another", async () => {
    await using slack = await startOurs();
    expect(await errorOf(clientOf(slack, "xoxb-another").auth.test())).toBe("invalid_auth");
    expect(await errorOf(clientOf(slack, TOKENS.appToken).auth.test())).toBe("not_allowed_token_type");
    expect(await errorOf(clientOf(slack, "").auth.test())).toBe("not_authed");
    expect(await errorOf(clientOf(slack).apps.connections.open({}))).toBe("not_allowed_token_type");
    expect(await errorOf(clientOf(slack).apiCall("chat.nothing"))).toBe("unknown_method");
  });

  test("takes JSON as it takes forms, and nothing else", async () => {
    await using slack = await startOurs();
    const ask = async (type: string, body: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${TOKENS.botToken}`, "content-type": type };
      return (await fetch(`${slack.apiUrl}/chat.postMessage`, { method: "POST", headers, body })).json();
    };
    expect(await ask("application/json; charset=utf-8", JSON.stringify({ channel: GENERAL, text: "x" }))).toMatchObject(
      { ok: true },
    );
    expect(await ask("application/json", "{")).toMatchObject({ error: "invalid_json" });
    expect(await ask("application/json", "[]")).toMatchObject({ error: "json_not_object" });
    expect(await ask("text/plain", "x")).toMatchObject({ error: "invalid_post_type" });
    expect(await ask("application/json", JSON.stringify({ channel: GENERAL, texts: "x" }))).toMatchObject({
      error: "invalid_arguments",
    });
  });

  test.each([
    [
      "a text of an edit over 4 000 bytes",
      "msg_too_long",
      (client: WebClient, ts: string) => client.chat.update({ channel: GENERAL, ts, text: "日".repeat(1334) }),
    ],
    [
      "a section over 3 000 characters",
      "invalid_blocks",
      (client: WebClient) =>
        client.chat.postMessage({
          channel: GENERAL,
          text: "x",
          blocks: [{ type: "section", text: { type: "mrkdwn", text: "x".repeat(3001) } }],
        }),
    ],
    [
      "a thread that is none",
      "thread_not_found",
      (client: WebClient) => client.chat.postMessage({ channel: GENERAL, text: "x", thread_ts: "1700000000.000100" }),
    ],
    [
      "a time that is none",
      "invalid_thread_ts",
      (client: WebClient) => client.chat.postMessage({ channel: GENERAL, text: "x", thread_ts: "now" }),
    ],
    [
      "a page of no size",
      "invalid_arguments",
      (client: WebClient) => client.conversations.history({ channel: GENERAL, limit: 5000 }),
    ],
  ])("refuses %s", async (_, error, work) => {
    await using slack = await startOurs();
    const { ts = "" } = await clientOf(slack).chat.postMessage({ channel: GENERAL, text: "x" });
    expect(await errorOf(work(clientOf(slack), ts))).toBe(error);
  });

  test("pages, and shows what is after a time", async () => {
    await using slack = await startOurs();
    const client = clientOf(slack);
    const stamps: string[] = [];
    for (const text of ["a", "b", "c"])
      stamps.push(String((await client.chat.postMessage({ channel: GENERAL, text })).ts));
    const first = await client.conversations.history({ channel: GENERAL, limit: 2 });
    expect(first.messages?.map(({ text }) => text)).toEqual(["c", "b"]);
    const rest = await client.conversations.history({
      channel: GENERAL,
      limit: 2,
      cursor: first.response_metadata!.next_cursor!,
    });
    expect([rest.messages?.map(({ text }) => text), rest.has_more]).toEqual([["a"], false]);
    const later = await client.conversations.history({ channel: GENERAL, oldest: stamps[0]! });
    expect(later.messages?.map(({ text }) => text)).toEqual(["c", "b"]);
  });

  test("speaks Socket Mode to the platform's own client: envelopes, acknowledgements, and an end that it asks for", async () => {
    await using slack = await startOurs();
    const client = new SocketModeClient({
      appToken: TOKENS.appToken,
      clientPingTimeout: 50,
      logger: quietLog(),
      clientOptions: { slackApiUrl: slack.apiUrl },
    });
    const heard: string[] = [];
    const both = Promise.withResolvers<void>();
    client.on("message", ({ ack, event }: { ack: () => Promise<void>; event: { text: string } }) => {
      heard.push(event.text);
      void ack().then(() => event.text === "two" && both.resolve());
    });
    await client.start();
    slack.write({ text: "one", from: ADMIN, atMs: NOW_MS });
    await slack.socket.opened(1);
    const left = new Promise<void>((resolve) => void client.once("reconnecting", () => resolve()));
    slack.socket.askToLeave("warning");
    await left;
    await slack.socket.opened(2);
    slack.write({ text: "two", from: ADMIN, atMs: NOW_MS });
    await both.promise;
    expect(heard).toEqual(["one", "two"]);
    await client.disconnect();
    expect([slack.socket.acknowledged.length, slack.socket.faults]).toEqual([2, []]);
  });
});
