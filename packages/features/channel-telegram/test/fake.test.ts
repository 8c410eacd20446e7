// The fake platform is worth only as much as it is like the real one: the client library that speaks to the real one must find
// everything as it expects it, and what the real one refuses must be refused.
import {
  startPlatform,
  startTelegram,
  TELEGRAM_TOKEN,
  telegramMessage,
  telegramPress,
  type TelegramPlatform,
} from "@svc/testkit";
import { Api, Bot, type GrammyError, InputFile } from "grammy";
import { describe, expect, test } from "vitest";
import { ADA, FORUM, GROUP, NOW_MS } from "./house.ts";

async function opened(options: Parameters<typeof startTelegram>[0] = {}) {
  const platform = await startTelegram(options);
  platform.chats.add({ id: Number(ADA), type: "private", first_name: "Ada" });
  platform.chats.add(GROUP);
  platform.chats.add(FORUM);
  const api = new Api(TELEGRAM_TOKEN, { apiRoot: platform.apiUrl });
  return { platform, api, [Symbol.asyncDispose]: () => platform.close() };
}

/** As the platform says it. */
const refusal = async (call: Promise<unknown>): Promise<unknown> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason as GrammyError,
  );
  return error && [error.error_code, error.description];
};

const write = (platform: TelegramPlatform, id: string, text: string) =>
  platform.push({ message: telegramMessage({ id, text, from: ADA, atMs: NOW_MS }) });

test("a bot of the library's own polls it, is told of messages and presses, and answers", async () => {
  await using at = await opened();
  const bot = new Bot(TELEGRAM_TOKEN, { client: { apiRoot: at.platform.apiUrl } });
  const heard = Promise.withResolvers<string>();
  const pressed = Promise.withResolvers<string>();
  bot.on("message:text", async (context) => {
    await context.reply(`*${context.message.text}*`);
    heard.resolve(context.message.text);
  });
  bot.on("callback_query:data", async (context) => {
    await context.answerCallbackQuery();
    pressed.resolve(context.callbackQuery.data);
  });
  const running = bot.start({ timeout: 50, allowed_updates: ["message", "callback_query"] });
  write(at.platform, "1", "Hello");
  expect(await heard.promise).toBe("Hello");
  const [sent] = at.platform.sent;
  expect(sent).toMatchObject({ chatId: Number(ADA), text: "*Hello*" });
  const message = at.platform.told(sent!);
  at.platform.push({ callback_query: telegramPress({ id: "q", from: ADA, data: "d", message }) });
  expect(await pressed.promise).toBe("d");
  expect(at.platform.done.answered).toHaveLength(1);
  await bot.stop();
  await running;
  // It confirms on its way out.
  expect(at.platform.waiting).toEqual([]);
});

describe("the token", () => {
  test.each([
    [`${TELEGRAM_TOKEN.slice(0, -1)}x`, [401, "Unauthorized"]],
    ["no-token", [404, "Not Found"]],
  ])("%s", async (token, expected) => {
    await using at = await opened();
    expect(await refusal(new Api(token, { apiRoot: at.platform.apiUrl }).getMe())).toEqual(expected);
  });
});

test("methods are known in any case, and unknown ones are not", async () => {
  await using at = await opened();
  const ask = (path: string) => fetch(`${at.platform.apiUrl}/bot${TELEGRAM_TOKEN}/${path}`);
  expect((await ask("GETME")).status).toBe(200);
  expect(await (await ask("getYou")).json()).toEqual({
    ok: false,
    error_code: 404,
    description: "Not Found: method not found",
  });
});

describe("texts", () => {
  test("are seen without their tags, in the place where they belong", async () => {
    await using at = await opened();
    const sent = await at.api.sendMessage(FORUM.id, ' <b>a</b> &lt; <pre><code class="language-js">b</code></pre> ', {
      parse_mode: "HTML",
      message_thread_id: 12,
    });
    expect(sent).toMatchObject({ text: "a < b", chat: { id: FORUM.id, is_forum: true }, message_thread_id: 12 });
    expect(sent.entities).toEqual([
      { type: "bold", offset: 0, length: 1 },
      { type: "pre", offset: 4, length: 1, language: "js" },
    ]);
    expect(sent.chat).not.toHaveProperty("topics");
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["an unknown chat", { chat_id: 1 }, "chat not found"],
    ["a wrong type", { message_thread_id: "1" }, 'parameter "message_thread_id" must be integer'],
    ["an unknown parameter", { reply_to: 1 }, 'parameter "reply_to" is not known'],
    ["nothing", { text: "" }, "message text is empty"],
    ["white space", { text: " \n " }, "message text is empty"],
    ["too much", { text: "x".repeat(4097) }, "message is too long"],
    ["too many pairs", { text: "😀".repeat(2049) }, "message is too long"],
    ["half a pair", { text: "\uD800" }, "strings must be encoded in UTF-8"],
    ["an open tag", { text: "<b>x" }, "can't parse entities: Can't find end tag corresponding to start tag \"b\""],
    ["an unknown tag", { text: "é<h1>x</h1>" }, 'can\'t parse entities: Unsupported start tag "h1" at byte offset 2'],
    [
      "crossed tags",
      { text: "<b><i>x</b></i>" },
      'can\'t parse entities: Unmatched end tag at byte offset 7, expected "</i>", found "</b>"',
    ],
    ["an end alone", { text: "x</b>" }, "can't parse entities: Unexpected end tag at byte offset 1"],
    ["a lone <", { text: "1 < 2" }, "can't parse entities: Unclosed start tag at byte offset 2"],
    ["another topic", { chat_id: FORUM.id, message_thread_id: 13 }, "message thread not found"],
    ["General by its number", { chat_id: FORUM.id, message_thread_id: 1 }, "message thread not found"],
    ["a reply to nothing", { reply_parameters: { message_id: 99 } }, "message to be replied not found"],
    [
      "a button that says too much",
      { reply_markup: { inline_keyboard: [[{ text: "x", callback_data: "é".repeat(33) }]] } },
      "BUTTON_DATA_INVALID",
    ],
    [
      "a button that says nothing",
      { reply_markup: { inline_keyboard: [[{ text: "x" }]] } },
      "Text buttons are unallowed in the inline keyboard",
    ],
  ])("%s is refused", async (_what, more, description) => {
    await using at = await opened();
    const payload = { chat_id: ADA, text: "x", parse_mode: "HTML", ...more };
    expect(await refusal(at.api.raw.sendMessage(payload as never))).toEqual([400, `Bad Request: ${description}`]);
    expect(at.platform.sent).toEqual([]);
  });

  test("a reply to what is gone is sent without it, where that is allowed", async () => {
    await using at = await opened();
    const reply_parameters = { message_id: 99, allow_sending_without_reply: true };
    expect(await at.api.sendMessage(ADA, "x", { reply_parameters })).not.toHaveProperty("reply_to_message");
  });
});

describe("edits", () => {
  test("change what is seen, and take the buttons off", async () => {
    await using at = await opened();
    const reply_markup = { inline_keyboard: [[{ text: "Yes", callback_data: "y" }]] };
    const { message_id: id } = await at.api.sendMessage(ADA, "a", { reply_markup });
    expect(at.platform.sent[0]?.buttons).toEqual(["Yes"]);
    await at.api.editMessageText(ADA, id, "b");
    expect(at.platform.sent).toMatchObject([{ text: "b", buttons: [], edits: 1 }]);
  });

  test("of nothing, of others and to the same are refused", async () => {
    await using at = await opened();
    const { message_id: id } = await at.api.sendMessage(ADA, "a");
    write(at.platform, "1", "x");
    const others = (at.platform.waiting[0]!["message"] as { message_id: number }).message_id;
    expect(await refusal(at.api.editMessageText(ADA, id, "a"))).toEqual([
      400,
      expect.stringMatching(/^Bad Request: message is not modified/),
    ]);
    expect(await refusal(at.api.editMessageText(ADA, 4711, "b"))).toEqual([
      400,
      "Bad Request: message to edit not found",
    ]);
    expect(await refusal(at.api.editMessageText(ADA, others, "b"))).toEqual([
      400,
      "Bad Request: message can't be edited",
    ]);
  });
});

describe("updates", () => {
  const ids = (updates: readonly { update_id: number }[]): number[] => updates.map(({ update_id: id }) => id);

  test("are handed over until an offset behind them is asked for", async () => {
    await using at = await opened();
    for (const id of ["1", "2", "3"]) write(at.platform, id, id);
    const first = ids(await at.api.getUpdates());
    expect(first).toHaveLength(3);
    expect(ids(await at.api.getUpdates({ limit: 2 }))).toEqual(first.slice(0, 2));
    expect(ids(await at.api.getUpdates({ offset: first[1]! }))).toEqual(first.slice(1));
    expect(ids(await at.api.getUpdates({ offset: -1 }))).toEqual(first.slice(2));
    expect(ids(await at.api.getUpdates({ offset: first[2]! + 1 }))).toEqual([]);
    expect(ids(await at.api.getUpdates())).toEqual([]);
  });

  test("come only if they are wanted", async () => {
    await using at = await opened();
    const reaction = { message_reaction: { chat: GROUP, message_id: 1 } };
    expect(at.platform.push(reaction)).toBeUndefined();
    await at.api.getUpdates({ allowed_updates: ["message_reaction"] });
    expect(at.platform.push(reaction)).toBeDefined();
    expect(write(at.platform, "1", "x")).toBeUndefined();
    await at.api.getUpdates({ allowed_updates: [] });
    expect(write(at.platform, "2", "x")).toBeDefined();
  });

  test("one of two who ask is told that there is another", async () => {
    await using at = await opened();
    const first = refusal(at.api.getUpdates({ timeout: 50 }));
    await at.platform.arrived(0);
    const second = at.api.getUpdates({ timeout: 50 });
    expect(await first).toEqual([
      409,
      "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    ]);
    write(at.platform, "1", "x");
    expect(await second).toHaveLength(1);
  });

  test("are posted to a webhook, again until they are taken, and nobody may ask for them meanwhile", async () => {
    let target = "";
    await using at = await opened({ webhook: { target: () => target } });
    const posts: unknown[] = [];
    await using receiver = await startPlatform((request) => {
      posts.push([request.headers["x-telegram-bot-api-secret-token"], request.json]);
      const isRight = posts.length > 2;
      return { status: isRight ? 200 : 503, json: { method: "sendMessage", chat_id: Number(ADA), text: "by answer" } };
    });
    target = receiver.url;
    const waiting = write(at.platform, "1", "before");
    await at.api.setWebhook("https://svc.example.org/telegram", { secret_token: "s_e-c" });
    await at.platform.webhook.deliver();
    expect(at.platform.webhook.statuses).toEqual([503, 503, 200]);
    expect(posts).toEqual(Array.from({ length: 3 }, () => ["s_e-c", waiting]));
    expect(at.platform.sent).toMatchObject([{ text: "by answer" }]);
    expect(await refusal(at.api.getUpdates())).toEqual([409, expect.stringContaining("while webhook is active")]);
    expect(await at.api.getWebhookInfo()).toMatchObject({
      url: "https://svc.example.org/telegram",
      pending_update_count: 0,
    });
    await at.api.deleteWebhook();
    expect(await at.api.getUpdates()).toEqual([]);
  });

  test.each([
    ["http://svc.example.org/telegram", {}, "bad webhook: An HTTPS URL must be provided for webhook"],
    ["https://svc.example.org:8080/", {}, "bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443"],
    ["https://svc.example.org/", { secret_token: "a b" }, "secret token contains unallowed characters"],
  ])("a webhook at %s is refused", async (url, more, description) => {
    await using at = await opened();
    expect(await refusal(at.api.setWebhook(url, more))).toEqual([400, `Bad Request: ${description}`]);
  });
});

describe("files", () => {
  const PNG = Buffer.from("89504e470d0a1a0a", "hex");

  test("are uploaded by a form, and are what they are sent as", async () => {
    await using at = await opened();
    await at.api.sendPhoto(ADA, new InputFile(PNG, "a b.png"), { caption: "<i>c</i>", parse_mode: "HTML" });
    await at.api.sendDocument(ADA, new InputFile(Buffer.from("text"), "t.txt"));
    expect(at.platform.sent).toMatchObject([
      { text: "c", file: { kind: "photo", name: "a b.png", bytes: PNG } },
      { text: "", file: { kind: "document", name: "t.txt", bytes: Buffer.from("text") } },
    ]);
    const file = new InputFile(Buffer.from("no picture"), "a.png");
    expect(await refusal(at.api.sendPhoto(ADA, file))).toEqual([400, "Bad Request: IMAGE_PROCESS_FAILED"]);
    expect(await refusal(at.api.sendDocument(ADA, new InputFile(Buffer.alloc(0), "e")))).toEqual([
      400,
      "Bad Request: file must be non-empty",
    ]);
  });

  test("are fetched in two steps", async () => {
    await using at = await opened();
    const fileId = at.platform.files.host(PNG);
    const { file_path: path } = await at.api.getFile(fileId);
    const url = `${at.platform.apiUrl}/file/bot${TELEGRAM_TOKEN}/${path}`;
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(PNG);
    at.platform.files.expire();
    expect((await fetch(url)).status).toBe(404);
    expect(await refusal(at.api.getFile("unknown"))).toEqual([400, expect.stringContaining("wrong file_id")]);
    const large = at.platform.files.host(Buffer.alloc(20_000_001));
    expect(await refusal(at.api.getFile(large))).toEqual([400, "Bad Request: file is too big"]);
  });
});

test("reactions, actions and commands are checked", async () => {
  await using at = await opened();
  const { message_id: id } = await at.api.sendMessage(ADA, "a");
  await at.api.setMessageReaction(ADA, id, [{ type: "emoji", emoji: "👀" }]);
  await at.api.sendChatAction(ADA, "typing");
  expect(at.platform.done).toMatchObject({
    reactions: [{ messageId: id, emoji: ["👀"] }],
    actions: [{ action: "typing" }],
  });
  const refused = [
    at.api.setMessageReaction(ADA, id, [{ type: "emoji", emoji: "🦊" as never }]),
    at.api.setMessageReaction(ADA, id, [
      { type: "emoji", emoji: "👀" },
      { type: "emoji", emoji: "👍" },
    ]),
    at.api.setMessageReaction(ADA, 4711, [{ type: "emoji", emoji: "👀" }]),
    at.api.sendChatAction(ADA, "dancing" as never),
    at.api.setMyCommands([{ command: "New", description: "x" }]),
    at.api.setMyCommands([{ command: "new", description: "" }]),
    at.api.answerCallbackQuery("unknown"),
  ];
  expect((await Promise.all(refused.map(refusal))).map((one) => (one as [number])[0])).toEqual(refused.map(() => 400));
});

describe("chats", () => {
  test("that have moved say where to", async () => {
    await using at = await opened();
    at.platform.chats.add({ id: -42, type: "group", title: "Old" });
    at.platform.chats.migrate(-42, -100_42);
    const error = await at.api.sendMessage(-42, "x").catch((reason: unknown) => reason as GrammyError);
    expect(error).toMatchObject({ error_code: 400, parameters: { migrate_to_chat_id: -100_42 } });
    expect(await at.api.sendMessage(-100_42, "x")).toMatchObject({ chat: { id: -100_42, type: "supergroup" } });
  });

  test("that want nothing of the bot say so", async () => {
    await using at = await opened();
    at.platform.chats.add({ id: 7, type: "private", forbids: "bot was blocked by the user" });
    expect(await refusal(at.api.sendMessage(7, "x"))).toEqual([403, "Forbidden: bot was blocked by the user"]);
  });
});
