/** The chats that the bot may write to, and what is in them. */
import type { Json } from "@svc/contract";
import { badRequest, TelegramError } from "./answer.ts";
import type { TextEntity } from "./html.ts";

export interface TelegramChat {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup" | "channel";
  readonly title?: string;
  readonly username?: string;
  readonly first_name?: string;
  readonly is_forum?: true;
  /** Ids of a forum's topics; General is none of them. */
  readonly topics?: readonly number[];
  /** Why the bot may not write there any more, e.g. `bot was blocked by the user`. */
  readonly forbids?: string;
}

/** A message of the bot's, as people see it now. */
export interface TelegramSent {
  readonly chatId: number;
  readonly messageId: number;
  readonly threadId: number | undefined;
  /** Of a file its caption. */
  readonly text: string;
  readonly entities: readonly TextEntity[];
  /** Labels of the buttons, and what each says when it is pressed. */
  readonly buttons: readonly string[];
  readonly callbackData: readonly string[];
  readonly file: { readonly kind: string; readonly name: string; readonly bytes: Buffer } | undefined;
  /** The message that it replies to, where that is there. */
  readonly repliesTo: number | undefined;
  readonly hasPreview: boolean;
  /** How often it was edited. */
  readonly edits: number;
}

export interface Chats {
  readonly sent: readonly TelegramSent[];
  add(chat: TelegramChat): void;
  /** Throws what the platform says of a chat that the bot can't write to. */
  find(id: Json): TelegramChat;
  /** A person writes. Their first message to the bot makes a chat that the bot may write to. */
  note(chat: TelegramChat, messageId: number): void;
  has(chatId: number, messageId: number): boolean;
  send(sent: Omit<TelegramSent, "messageId" | "edits">): TelegramSent;
  /** Throws when it is not there. */
  own(chatId: number, messageId: number): TelegramSent;
  edit(sent: TelegramSent, change: Partial<TelegramSent>): TelegramSent;
  remove(chatId: number, messageId: number): void;
  /** A group becomes a supergroup, which has another id. */
  migrate(from: number, to: number): void;
}

export function createChats(): Chats {
  const chats = new Map<number, TelegramChat>();
  const moved = new Map<number, number>();
  const sent: TelegramSent[] = [];
  const numbers = new Map<number, number>();
  const present = new Set<string>();

  const placeOf = (chatId: number, messageId: number): number =>
    sent.findIndex((one) => one.chatId === chatId && one.messageId === messageId);
  const put = (place: number, one: TelegramSent): TelegramSent => (sent[place] = one);

  const number = (chatId: number): number => {
    const next = (numbers.get(chatId) ?? 0) + 1;
    numbers.set(chatId, next);
    present.add(`${chatId} ${next}`);
    return next;
  };

  return {
    sent,
    add: (chat) => void chats.set(chat.id, chat),
    note(chat, messageId) {
      if (!chats.has(chat.id)) chats.set(chat.id, chat);
      present.add(`${chat.id} ${messageId}`);
    },
    find(id) {
      const byName = typeof id === "string" && id.startsWith("@") ? id.slice(1).toLowerCase() : undefined;
      const found =
        byName === undefined
          ? chats.get(Number(id))
          : [...chats.values()].find(({ username, type }) => type !== "private" && username?.toLowerCase() === byName);
      const to = moved.get(found?.id ?? Number(id));
      if (to !== undefined) {
        throw badRequest("group chat was upgraded to a supergroup chat", { migrate_to_chat_id: to });
      }
      if (found === undefined) throw badRequest("chat not found");
      if (found.forbids !== undefined) {
        throw new TelegramError({ code: 403, description: `Forbidden: ${found.forbids}` });
      }
      return found;
    },
    has: (chatId, messageId) => present.has(`${chatId} ${messageId}`),
    send(one) {
      const added = { ...one, messageId: number(one.chatId), edits: 0 };
      sent.push(added);
      return added;
    },
    own(chatId, messageId) {
      const found = sent[placeOf(chatId, messageId)];
      if (found !== undefined) return found;
      throw badRequest(present.has(`${chatId} ${messageId}`) ? "message can't be edited" : "message to edit not found");
    },
    edit: (one, change) => put(placeOf(one.chatId, one.messageId), { ...one, ...change, edits: one.edits + 1 }),
    remove(chatId, messageId) {
      present.delete(`${chatId} ${messageId}`);
      const place = placeOf(chatId, messageId);
      if (place >= 0) sent.splice(place, 1);
    },
    migrate(from, to) {
      const before = chats.get(from);
      moved.set(from, to);
      chats.set(to, { ...before, id: to, type: "supergroup" });
    },
  };
}
