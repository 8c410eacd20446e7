/**
 * What an update means to the service. An edited message is ignored: the first version has been answered, and people don't want
 * an answer to every corrected typo. https://core.telegram.org/bots/api#update
 */
import type { Inbound, Json } from "@svc/contract";
import { conversationOf, type MessageReading, type ReadMessage, readMessage } from "./message.ts";
import { choiceOf } from "./prompts.ts";
import { CHANNEL, type Fields, fieldsOf, idOf, listOf, someFields, textOf, wordOf } from "./protocol.ts";

export interface ReadUpdate {
  readonly message?: ReadMessage;
  readonly inbound?: Inbound;
  /** A press that waits to be answered. */
  readonly queryId?: string;
}

/** Reads any JSON: an update of an unknown shape or kind yields nothing. */
export type UpdateReader = (update: Json, receivedAtMs: number) => ReadUpdate;

/** `reading`: undefined until the bot's own name is known. */
export const updateReader =
  (reading: () => MessageReading | undefined): UpdateReader =>
  (update, receivedAtMs) => {
    const fields = fieldsOf(update);
    const [message, query, reaction] = [fields["message"], fields["callback_query"], fields["message_reaction"]].map(
      someFields,
    );
    const known = reading();
    if (known === undefined) return {};
    if (message) {
      const read = readMessage(message, known, receivedAtMs);
      return read ? { message: read } : {};
    }
    if (query) {
      const { inbound, queryId } = readPress(query, known, receivedAtMs) ?? {};
      return { ...(inbound && { inbound }), ...(queryId !== undefined && { queryId }) };
    }
    const updateId = idOf(fields["update_id"]);
    const inbound = reaction && updateId !== undefined && readReaction(reaction, updateId, known, receivedAtMs);
    return inbound ? { inbound } : {};
  };

// The platform delivers an album as one message per picture. This joins them into one message with all pictures and the
// caption.

/** Messages that are meant for the bot, in the order of the updates. */
export function inboundOf(updates: readonly ReadUpdate[]): Inbound[] {
  const albums = new Map<string, ReadMessage[]>();
  for (const { message } of updates) {
    if (message?.albumId === undefined) continue;
    albums.set(keyOf(message), [...(albums.get(keyOf(message)) ?? []), message]);
  }
  return updates.flatMap(({ message, inbound }) => {
    if (message === undefined) return inbound ?? [];
    const album = albums.get(keyOf(message)) ?? [message];
    return album[0] === message && album.some(({ isForUs }) => isForUs) ? whole(album) : [];
  });
}

/** Its id is the platform's, but nothing keeps two chats from the same one. */
const keyOf = ({ albumId = "", inbound }: ReadMessage): string =>
  JSON.stringify([inbound.conversation.id, inbound.sender, albumId]);

function whole([first, ...others]: readonly ReadMessage[]): Inbound {
  const { inbound } = first as ReadMessage;
  if (others.length === 0) return inbound;
  const media = [inbound, ...others.map((other) => other.inbound)].flatMap((one) => one.media ?? []);
  return { ...inbound, text: [inbound.text, ...others.map(({ said }) => said)].join("\n"), media };
}

/** Whether the rest of an album may still be on its way. */
export const endsInAlbum = (updates: readonly ReadUpdate[]): boolean => updates.at(-1)?.message?.albumId !== undefined;

/** A press on a button of a question of ours. https://core.telegram.org/bots/api#callbackquery */
export interface ReadPress {
  /** Undefined for a button of another's making. */
  readonly inbound: Inbound | undefined;
  /** The app shows that it waits until this is answered. */
  readonly queryId: string;
}

/** Undefined for who may not write. */
function readPress(
  query: Fields,
  { me, senderOf }: Pick<MessageReading, "me" | "senderOf">,
  receivedAtMs: number,
): ReadPress | undefined {
  const queryId = wordOf(query["id"]);
  const message = fieldsOf(query["message"]);
  const chat = fieldsOf(message["chat"]);
  const chatId = idOf(chat["id"]);
  const sender = queryId === undefined || chatId === undefined ? undefined : senderOf(query);
  if (queryId === undefined || chatId === undefined || sender === undefined) return undefined;
  const data = textOf(query["data"]) ?? "";
  const choice = choiceOf(data);
  if (choice === undefined) return { queryId, inbound: undefined };
  return {
    queryId,
    inbound: {
      id: `${me.id}:press:${queryId}`,
      conversation: conversationOf(chatId, message),
      ...sender,
      ...(chat["type"] !== "private" && { group: true }),
      text: labelOf(message["reply_markup"], data) ?? (choice.approved ? "Approve" : "Reject"),
      choice,
      // The platform tells when the question was asked, not when the button was pressed.
      sentAtMs: receivedAtMs,
    },
  };
}

/** Of the button that says this. The platform leaves the buttons of an old message out. */
function labelOf(markup: Json | undefined, data: string): string | undefined {
  const buttons = listOf(fieldsOf(markup)["inline_keyboard"]).flatMap(listOf).map(fieldsOf);
  return wordOf(buttons.find((button) => button["callback_data"] === data)?.["text"]);
}

// A reaction that a person set on a message, or took back. https://core.telegram.org/bots/api#messagereactionupdated

/** Undefined for a sender who may not write. `updateId`: a reaction has no id. */
function readReaction(
  reaction: Fields,
  updateId: number,
  { me, senderOf }: Pick<MessageReading, "me" | "senderOf">,
  receivedAtMs: number,
): Inbound | undefined {
  const [chatId, messageId] = [idOf(fieldsOf(reaction["chat"])["id"]), idOf(reaction["message_id"])];
  if (chatId === undefined || messageId === undefined) return undefined;
  const sender = senderOf(reaction);
  if (sender === undefined) return undefined;
  const emoji = listOf(reaction["new_reaction"]).map((one) => textOf(fieldsOf(one)["emoji"]) ?? "");
  return {
    kind: "reaction",
    id: `${me.id}:update:${updateId}`,
    conversation: { channel: CHANNEL, id: String(chatId) },
    ...sender,
    text: emoji.join("").slice(0, MAX_CHARS).toWellFormed(),
    sentAtMs: receivedAtMs,
    replyData: { messageId },
  };
}

/** Premium users may set three. */
const MAX_CHARS = 100;
