// What goes out must be what the platform documents, where it was meant to go, once: the fake takes nothing else.
import { describe, expect, test } from "vitest";
import { failure, fixtureAndPlatform, message, never, PERSON } from "./fixture.ts";

const DM = `D${PERSON.slice(1)}`;
const at = (id: string, thread?: string) => ({ conversation: { channel: "slack", id, ...(thread && { thread }) } });
const form = (body: Uint8Array): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(Buffer.from(body).toString()));

describe("a text", () => {
  test("is one message in the platform's markup, without previews that would be fetched unclicked", async () => {
    await using opened = await fixtureAndPlatform();
    const { slack, channel } = opened;
    slack.workspace.dm(PERSON);
    const receipt = await channel.send(message("**Hello** https://example.org <!channel>"), never);
    expect(slack.called).toEqual(["chat.postMessage"]);
    expect(form(slack.requests[0]!.body)).toEqual({
      channel: DM,
      text: "*Hello* <https://example.org> &lt;!channel&gt;",
      unfurl_links: "false",
      unfurl_media: "false",
      parse: "none",
      link_names: "false",
    });
    expect(receipt).toEqual({ platformId: `${DM}:${slack.sent[0]?.message.ts}` });
  });

  test("goes with the token in a header, and tells nothing of the system it comes from", async () => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.dm(PERSON);
    await opened.channel.send(message("hi"), never);
    expect(opened.slack.requests[0]?.headers).toMatchObject({
      authorization: "Bearer xoxb-12-34-bot-token",
      "user-agent": "svc",
    });
  });

  test("in a thread goes into it", async () => {
    await using opened = await fixtureAndPlatform();
    const thread = opened.slack.write({ text: "Hello", from: PERSON, atMs: 0, channel: "C0GENERAL", kind: "channel" });
    const receipt = await opened.channel.send(message("hi", at("C0GENERAL", thread)), never);
    expect(opened.slack.sent[0]?.message.threadTs).toBe(thread);
    expect(receipt).not.toHaveProperty("opened");
  });

  test("to a channel opens a thread there, unless there are to be none", async () => {
    for (const thread_replies of [true, false]) {
      await using opened = await fixtureAndPlatform({ thread_replies });
      opened.slack.workspace.add({ id: "C0GENERAL", kind: "channel", name: "general" });
      const receipt = await opened.channel.send(message("hi", at("C0GENERAL")), never);
      const { ts } = opened.slack.sent[0]!.message;
      expect(receipt.opened).toEqual(thread_replies ? { channel: "slack", id: "C0GENERAL", thread: ts } : undefined);
    }
  });

  test("to a person opens the conversation, once, and tells where answers come in", async () => {
    await using opened = await fixtureAndPlatform();
    for (let time = 0; time < 2; time += 1) {
      const receipt = await opened.channel.send(message("hi", at(PERSON)), never);
      expect(receipt.opened).toEqual({ channel: "slack", id: DM });
    }
    expect(opened.slack.called).toEqual(["conversations.open", "chat.postMessage", "chat.postMessage"]);
  });

  test("to a channel by its name is told by its id", async () => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.add({ id: "C0GENERAL", kind: "channel", name: "general" });
    for (const id of ["#general", "general"]) {
      expect((await opened.channel.send(message("hi", at(id)), never)).opened).toMatchObject({ id: "C0GENERAL" });
    }
  });

  test.each(["", "General", "@ada", "D0", "C0GENERAL/../x", "*", "a b", "<!channel>", "x".repeat(100)])(
    "to %j is refused without a request",
    async (id) => {
      await using opened = await fixtureAndPlatform();
      expect(await failure(opened.channel.send(message("hi", at(id)), never))).toMatchObject({
        code: "DELIVERY_REFUSED",
      });
      expect(opened.slack.requests).toEqual([]);
    },
  );

  test("in what is no thread is refused without a request", async () => {
    await using opened = await fixtureAndPlatform();
    expect(await failure(opened.channel.send(message("hi", at(DM, "now")), never))).toMatchObject({
      code: "DELIVERY_REFUSED",
    });
    expect(opened.slack.requests).toEqual([]);
  });

  test("with half a character goes out", async () => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.dm(PERSON);
    await opened.channel.send(message("half \uD83D of it"), never);
    expect(opened.slack.sent[0]?.text).toBe("half \uFFFD of it");
  });
});

describe("what the platform says no to", () => {
  test.each([
    ["channel_not_found", "DELIVERY_REFUSED"],
    ["not_in_channel", "DELIVERY_REFUSED"],
    ["is_archived", "DELIVERY_REFUSED"],
    ["msg_too_long", "DELIVERY_REFUSED"],
    ["restricted_action", "DELIVERY_REFUSED"],
    ["messages_tab_disabled", "DELIVERY_REFUSED"],
    ["invalid_auth", "CHANNEL_UNAUTHORIZED"],
    ["token_revoked", "CHANNEL_UNAUTHORIZED"],
    ["account_inactive", "CHANNEL_UNAUTHORIZED"],
    ["internal_error", "DELIVERY_FAILED"],
    ["fatal_error", "DELIVERY_FAILED"],
    ["ratelimited", "DELIVERY_FAILED"],
    ["something_new", "DELIVERY_FAILED"],
    ["constructor", "DELIVERY_FAILED"],
    ["xoxb-12-34-bot-token", "DELIVERY_FAILED"],
  ])("%s is %s, asked once, in words of ours", async (word, code) => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.dm(PERSON);
    opened.slack.refusals.set("chat.postMessage", word);
    const error = await failure(opened.channel.send(message("hi"), never));
    expect(error).toMatchObject({ code, name: "SvcError" });
    expect(error.message).toMatch(/^[A-Z].*\.$/);
    expect(error.message).not.toContain("xoxb");
    expect(opened.slack.called).toEqual(["chat.postMessage"]);
  });

  test("a scope that is missing is named", async () => {
    await using opened = await fixtureAndPlatform();
    opened.slack.scopes.delete("chat:write");
    const error = await failure(opened.channel.send(message("hi"), never));
    expect(error).toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
    expect(error.hint).toContain("chat:write");
  });

  test("a redirect is no acceptance", async () => {
    await using opened = await fixtureAndPlatform();
    opened.slack.mood = ({ path }) => (path.endsWith("chat.postMessage") ? { redirects: "/api/auth.test" } : "takes");
    expect(await failure(opened.channel.send(message("hi"), never))).toMatchObject({ code: "DELIVERY_FAILED" });
    expect(opened.slack.called).toEqual(["auth.test"]);
  });

  test("a rate limit without a time is one all the same", async () => {
    await using opened = await fixtureAndPlatform();
    opened.slack.mood = { refuses: 429 };
    const error = await failure(opened.channel.send(message("hi"), never));
    expect(error).toMatchObject({ code: "DELIVERY_FAILED", retryAfterMs: undefined });
    expect(opened.slack.requests).toHaveLength(1);
  });
});

describe("files", () => {
  const file = (name: string, bytes: Uint8Array = Buffer.from(name)) =>
    ({ kind: "document", name, mimeType: "text/plain", read: () => Promise.resolve(bytes) }) as const;

  test("are one message under the text, in its thread, uploaded without the token", async () => {
    await using opened = await fixtureAndPlatform();
    const thread = opened.slack.write({ text: "Hello", from: PERSON, atMs: 0, channel: "C0GENERAL", kind: "channel" });
    const files = [file("a.txt"), file("b.txt")];
    const receipt = await opened.channel.send(message("Two files", { ...at("C0GENERAL", thread), files }), never);
    const [text, shared] = opened.slack.sent;
    expect(text).toMatchObject({ text: "Two files", message: { threadTs: thread } });
    expect(shared?.message).toMatchObject({
      threadTs: thread,
      subtype: "file_share",
      files: [{ name: "a.txt" }, { name: "b.txt" }],
    });
    expect(receipt.platformId).toBe(`C0GENERAL:${text!.message.ts}`);
    expect(opened.slack.files.uploaded.map(({ name, bytes }) => [name, Buffer.from(bytes).toString()])).toEqual([
      ["a.txt", "a.txt"],
      ["b.txt", "b.txt"],
    ]);
    const uploads = opened.slack.requests.filter(({ path }) => path.startsWith("/upload/"));
    expect(uploads.map(({ headers }) => headers["authorization"])).toEqual([undefined, undefined]);
  });

  test("to a person go where the text went", async () => {
    await using opened = await fixtureAndPlatform();
    await opened.channel.send(message("", { ...at(PERSON), files: [file("a.txt")] }), never);
    expect(opened.slack.sent).toMatchObject([{ channel: DM, message: { subtype: "file_share" } }]);
  });

  test("to a channel by its name need a text to find out its id", async () => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.add({ id: "C0GENERAL", kind: "channel", name: "general" });
    await opened.channel.send(message("With a text", { ...at("#general"), files: [file("a.txt")] }), never);
    expect(opened.slack.sent.map(({ channel }) => channel)).toEqual(["C0GENERAL", "C0GENERAL"]);
    const without = message("", { ...at("#general"), files: [file("a.txt")], deliveryId: "delivery-2" });
    expect(await failure(opened.channel.send(without, never))).toMatchObject({ code: "DELIVERY_REFUSED" });
  });

  test("go on where the last try stopped: the text is not sent twice", async () => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.dm(PERSON);
    opened.slack.refusals.set("files.completeUploadExternal", "internal_error");
    const two = message("Once", { files: [file("a.txt")] });
    const error = await failure(opened.channel.send(two, never));
    expect(error).toMatchObject({ code: "DELIVERY_FAILED" });
    opened.slack.refusals.clear();
    const receipt = await opened.channel.send(two, never);
    expect(opened.slack.sent.map(({ text }) => text)).toEqual(["Once", ""]);
    expect(receipt.platformId).toBe(`${DM}:${opened.slack.sent[0]!.message.ts}`);
  });

  test("that can't be sent keep nothing else from being sent", async () => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.dm(PERSON);
    const files = [file("empty.txt", new Uint8Array()), file("a.txt")];
    const error = await failure(opened.channel.send(message("Hello", { files }), never));
    expect(error).toMatchObject({ code: "DELIVERY_REFUSED" });
    expect(opened.slack.sent.map(({ text, message: { files: shared = [] } }) => [text, shared.length])).toEqual([
      ["Hello", 0],
      ["", 1],
    ]);
  });

  test.each([
    [{ refuses: 400 }, "DELIVERY_REFUSED"],
    [{ refuses: 403 }, "CHANNEL_UNAUTHORIZED"],
    [{ refuses: 503 }, "DELIVERY_FAILED"],
    [{ rateLimits: 9 }, "DELIVERY_FAILED"],
  ] as const)("whose upload meets %j have sent nothing: %s", async (mood, code) => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.dm(PERSON);
    opened.slack.mood = ({ path }) => (path.startsWith("/upload/") ? mood : "takes");
    const error = await failure(opened.channel.send(message("", { files: [file("a.txt")] }), never));
    expect(error).toMatchObject({ code, ...("rateLimits" in mood && { retryAfterMs: 9_000 }) });
    expect(opened.slack.sent).toEqual([]);
  });

  test("are put nowhere but on the platform", async () => {
    await using opened = await fixtureAndPlatform();
    for (const link of [
      "https://evil.example/upload",
      "https://files.slack.com.evil.example/",
      "http://files.slack.com/x",
      "file:///x",
    ]) {
      opened.slack.mood = ({ path }) =>
        path.endsWith("getUploadURLExternal")
          ? { babbles: JSON.stringify({ ok: true, upload_url: link, file_id: "F0FILE123" }) }
          : "takes";
      const error = await failure(opened.channel.send(message("", { files: [file("a.txt")] }), never));
      expect(error).toMatchObject({ code: "DELIVERY_FAILED" });
    }
    expect(opened.slack.requests.every(({ path }) => path.endsWith("getUploadURLExternal"))).toBe(true);
  });
});
