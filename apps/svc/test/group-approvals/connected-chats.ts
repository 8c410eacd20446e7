/** Platforms that a bot asks, or is connected to. */
import { startDiscord } from "@svc/testkit/platforms/discord/server";
import { slackEvent, slackPress, slackTs } from "@svc/testkit/platforms/slack/events";
import { startSlack } from "@svc/testkit/platforms/slack/server";
import { startTelegram } from "@svc/testkit/platforms/telegram/server";
import { telegramMessage, telegramPress } from "@svc/testkit/platforms/telegram/update";
import { type Chat, type Fields, lists, type Made, next, SECRETS } from "./chat.ts";

export async function telegram(stack: AsyncDisposableStack): Promise<Made> {
  const platform = stack.adopt(await startTelegram({ readsGroups: true }), (one) => one.close());
  const people = { member: "5551001", approver: "5551002", second: "5551003", stranger: "5559999" };
  const chatOf = (room: string) => ({ id: Number(room), type: "supergroup" as const, title: "A group" });
  const chat: Chat = {
    channel: "telegram",
    people,
    openRoom() {
      const room = String(-1_001_000_000_000 - next());
      platform.chats.add(chatOf(room));
      return room;
    },
    async write(room, text, { from = "approver", id = `m${next()}`, atMs = Date.now(), more = {} } = {}) {
      const message = telegramMessage({ id, from: people[from], text, atMs, chat: chatOf(room), more });
      platform.push({ message });
      return String(message["message_id"]);
    },
    async react({ room, id }, word) {
      const user = telegramMessage({ id: "", from: people.approver, atMs: 0 })["from"]!;
      const emoji = [{ type: "emoji", emoji: word }];
      const of = { chat: chatOf(room), message_id: Number(id), date: 1, old_reaction: [], new_reaction: emoji };
      platform.push({ message_reaction: { ...of, user } });
    },
    async edit(room, before, after) {
      const written = { id: `m${next()}`, from: people.approver, atMs: Date.now(), chat: chatOf(room) };
      platform.push({ message: telegramMessage({ ...written, text: before }) });
      const more = { edit_date: Math.floor(Date.now() / 1000) };
      platform.push({ edited_message: telegramMessage({ ...written, text: after, more }) });
      platform.push({ message: telegramMessage({ ...written, text: after, more }) });
    },
    async press({ room, id: asked }, { from = "approver", data, room: at = room, id = `p${next()}` }) {
      const question = platform.sent.find((sent) => String(sent.chatId) === room && String(sent.messageId) === asked)!;
      const message = { ...platform.told(question), chat: chatOf(at) };
      platform.push({ callback_query: telegramPress({ id, from: people[from], data, message }) });
    },
    posted: () =>
      platform.sent.map(({ chatId, text, callbackData, messageId }) => ({
        room: String(chatId),
        text,
        data: callbackData,
        id: String(messageId),
      })),
  };
  const section = `[channels_config.telegram]
bot_token = "${SECRETS.telegram}"
mention_only = false
api_url = "${platform.apiUrl}"
${lists("allowed_users", people)}`;
  return { chat, section };
}

export async function discord(stack: AsyncDisposableStack): Promise<Made> {
  const platform = stack.adopt(await startDiscord({ token: SECRETS.discord, nowMs: Date.now() }), (one) => one.close());
  const people = {
    member: "200000000000000001",
    approver: "200000000000000002",
    second: "200000000000000003",
    stranger: "200000000000999999",
  };
  for (const id of Object.values(people)) platform.addUser({ id });
  const guild = platform.addGuild();
  const chat: Chat = {
    channel: "discord",
    people,
    openRoom: () => platform.addChannel(guild).id,
    async write(room, text, { from = "approver", atMs = Date.now(), more = {} } = {}) {
      const timestamp = new Date(atMs).toISOString();
      const { answers, type, ...rest }: Fields = { timestamp, ...more };
      const written = platform.write({
        from: people[from],
        text,
        atMs,
        channelId: room,
        ...(typeof answers === "string" && { answers }),
        ...(typeof type === "number" && { type }),
        more: rest,
      });
      return written.id;
    },
    async react({ id }, word) {
      platform.react(platform.sent.find((sent) => sent.id === id)!.message, people.approver, word);
    },
    async edit(room, before, after) {
      const message = platform.write({ from: people.approver, text: before, channelId: room, atMs: Date.now() });
      platform.change(message, after);
    },
    async press({ id }, { from = "approver", data, room }) {
      const { message } = platform.sent.find((sent) => sent.id === id)!;
      const channelId = room ?? message.channelId;
      platform.interactions.press({ userId: people[from], message: { ...message, channelId }, customId: data });
    },
    posted: () =>
      platform.sent.map(({ channelId, text, customIds, id }) => ({ room: channelId, text, data: customIds, id })),
  };
  const section = `[channels_config.discord]
bot_token = "${SECRETS.discord}"
mention_only = false
slash_commands = false
api_url = "${platform.apiUrl}"
${lists("allowed_users", people)}`;
  return { chat, section };
}

export async function slack(stack: AsyncDisposableStack): Promise<Made> {
  const people = { member: "U0MEMBER1", approver: "U0APPROV1", second: "U0APPROV2", stranger: "U0STRANGE" };
  const { slackBot: botToken, slackApp: appToken } = SECRETS;
  const everybody = Object.values(people).map((id) => ({ id, name: id.toLowerCase() }));
  const platform = stack.adopt(await startSlack({ botToken, appToken, people: everybody }), (one) => one.close());
  const chat: Chat = {
    channel: "slack",
    people,
    openRoom() {
      const id = `C0ROOM${next()}`;
      platform.workspace.add({ id, kind: "channel", name: id.toLowerCase() });
      return id;
    },
    async write(room, text, { from = "approver", id, atMs, more = {} } = {}) {
      // The workspace numbers what is written late as if it was written now.
      const ts = id ?? (atMs === undefined ? undefined : slackTs(`m${next()}`, atMs));
      const event = { ...more, ...(ts !== undefined && { ts, event_ts: ts }) };
      const written = { text, from: people[from], atMs: Date.now(), channel: room, kind: "channel", event } as const;
      return platform.write(written);
    },
    async react({ room, id }, word) {
      const ts = slackTs(`r${next()}`, Date.now());
      const item = { type: "message", channel: room, ts: id!.split(":")[1]! };
      const event = { type: "reaction_added", user: people.approver, reaction: word, item, event_ts: ts };
      platform.socket.send("events_api", slackEvent(event, Date.now()));
    },
    async edit(room, before, after) {
      const ts = platform.write({
        text: before,
        from: people.approver,
        atMs: Date.now(),
        channel: room,
        kind: "channel",
      });
      const message = {
        type: "message",
        user: people.approver,
        text: after,
        ts,
        edited: { user: people.approver, ts },
      };
      const changed = {
        type: "message",
        subtype: "message_changed",
        hidden: true,
        channel: room,
        channel_type: "channel",
      };
      const again = { ...message, channel: room, channel_type: "channel", event_ts: ts };
      const changedTs = platform.workspace.nextTs();
      const told = { ...changed, message, previous_message: { ...message, text: before }, ts: changedTs };
      for (const event of [told, again]) platform.socket.send("events_api", slackEvent(event, Date.now()));
    },
    async press({ room, id }, { from = "approver", data, room: at = room, id: press = `p${next()}` }) {
      const { message } = platform.sent.find((sent) => `${sent.channel}:${sent.message.ts}` === id)!;
      const button = { ...message.buttons[0]!, value: data };
      const { ts, threadTs } = message;
      const of = { from: people[from], channel: at, ts, threadTs, button, atMs: Date.now(), id: press };
      platform.socket.send("interactive", slackPress(of));
    },
    posted: () =>
      platform.sent.map(({ channel, text, message }) => ({
        room: channel,
        text,
        data: message.buttons.map(({ value }) => value),
        id: `${channel}:${message.ts}`,
      })),
  };
  const section = `[channels_config.slack]
bot_token = "${botToken}"
app_token = "${appToken}"
mention_only = false
thread_replies = false
api_url = "${platform.apiUrl}"
${lists("allowed_users", people)}`;
  return { chat, section };
}
