/** Events as the platform tells them, by either way. https://open.larksuite.com/document/server-docs/im-v1/message/events/receive */
import { hash } from "node:crypto";
import type { Json } from "@svc/contract";

export const WORKCHAT_APP = {
  appId: "cli_a1b2c3d4e5f60718",
  bot: "ou_b07b07b07b07b07b07b07b07b07b07b0",
  name: "Helper",
};

type Fields = Readonly<Record<string, Json>>;

/** Any text as an id of a message, a chat or a person. */
export const workchatId = (prefix: "om" | "oc" | "ou" | "omt", of: string): string =>
  `${prefix}_${hash("sha256", `${prefix} ${of}`, "hex").slice(0, 32)}`;

/** The chat of a person with the bot. */
export const workchatDmOf = (person: string): string => workchatId("oc", `dm ${person}`);

export interface WorkchatMessage {
  /** Any text; an id of the platform's stays as it is. */
  readonly id: string;
  /** Open ID. */
  readonly from: string;
  readonly text?: string;
  readonly atMs: number;
  /** Default: the person's with the bot. */
  readonly chat?: string;
  readonly kind?: "p2p" | "group";
  /** Default: a text. */
  readonly type?: string;
  readonly content?: Json;
  readonly mentions?: readonly Fields[];
  readonly appId?: string;
  readonly token?: string;
  /** Of the message, beside or in place of the rest. */
  readonly more?: Fields;
  /** Of the sender. */
  readonly sender?: Fields;
}

export const workchatMessageId = (id: string): string => (id.startsWith("om_") ? id : workchatId("om", id));

export function workchatMessageEvent(message: WorkchatMessage): Json {
  const { id, from, text = "", atMs, chat = workchatDmOf(from), type = "text", content = { text } } = message;
  const kind = message.kind ?? (message.chat === undefined ? "p2p" : "group");
  return workchatEvent("im.message.receive_v1", `event ${id}`, message, {
    sender: {
      sender_id: { open_id: from, union_id: from.replace("ou_", "on_"), user_id: "7be5fg9a" },
      sender_type: "user",
      tenant_key: "736588c9260f175e",
      ...message.sender,
    },
    message: {
      message_id: workchatMessageId(id),
      create_time: String(atMs),
      update_time: String(atMs),
      chat_id: chat,
      chat_type: kind,
      message_type: type,
      content: JSON.stringify(content),
      ...(message.mentions && { mentions: [...message.mentions] }),
      ...message.more,
    },
  });
}

/** `@_user_1` in the text. */
export const workchatMention = (key = "@_user_1", openId = WORKCHAT_APP.bot, name = WORKCHAT_APP.name): Fields => ({
  key,
  id: { open_id: openId, union_id: openId.replace("ou_", "on_"), user_id: "" },
  name,
  mentioned_type: openId === WORKCHAT_APP.bot ? "bot" : "user",
  tenant_key: "736588c9260f175e",
});

export interface WorkchatPress {
  readonly id: string;
  readonly from: string;
  readonly chat: string;
  /** Of the card. */
  readonly message: string;
  readonly value: Json;
  readonly atMs: number;
  readonly appId?: string;
  readonly token?: string;
}

/** https://open.larksuite.com/document/feishu-cards/card-callback-communication */
export const workchatPress = (press: WorkchatPress): Json =>
  workchatEvent("card.action.trigger", `press ${press.id}`, press, {
    operator: { tenant_key: "736588c9260f175e", user_id: "7be5fg9a", open_id: press.from, union_id: "on_1" },
    token: "c-295ee57216a5dc9de90fefd0aadb4b1d7dxxxxxx",
    action: { value: press.value, tag: "button", timezone: "Asia/Shanghai" },
    host: "im_message",
    context: { open_message_id: press.message, open_chat_id: press.chat },
  });

export const workchatEvent = (
  type: string,
  id: string,
  {
    atMs,
    appId = WORKCHAT_APP.appId,
    token = "",
  }: { readonly atMs: number; readonly appId?: string; readonly token?: string },
  event: Json,
): Json => ({
  schema: "2.0",
  header: {
    event_id: hash("sha256", id, "hex").slice(0, 32),
    token,
    create_time: String(atMs),
    event_type: type,
    tenant_key: "736588c9260f175e",
    app_id: appId,
  },
  event,
});
