// The fake platform is worth only as much as it is like the real one: the client library that speaks to the real one must find
// everything as it expects it, and what the real one refuses must be refused.
import { TELEGRAM_TOKEN } from "@svc/testkit/platforms/telegram/server";
import { telegramPress } from "@svc/testkit/platforms/telegram/update";
import { Api, Bot, type GrammyError } from "grammy";
import { describe, expect, test } from "vitest";
import { opened, refusal, write } from "./fake-fixture.ts";
import { ADA, FORUM } from "./fixture.ts";

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
