/**
 * Sending: cards, files, drafts, questions, reactions.
 * https://open.larksuite.com/document/server-docs/im-v1/message/create, …/message/reply, …/message/patch
 */
import { hash } from "node:crypto";
import {
  type Channel,
  type Conversation,
  type Drafts,
  type OutgoingFile,
  type OutgoingMessage,
  type Prompts,
  type Receipt,
  SvcError,
} from "@svc/contract";
import { type Fields, fieldsOf, multipart, type SentPartsOf } from "@svc/kit";
import { type Api, unreadable } from "./api.ts";
import { cardsOf, closedCard, oneCardOf, questionCard } from "./cards.ts";
import type { Config } from "./config.ts";
import { type Questions, placeOf } from "./events.ts";
import { chatId, fileKey, messageId, personId } from "./ids.ts";
import { type Languages, reactionFor } from "./language.ts";

export interface OutboxDeps {
  readonly api: Api;
  readonly channel: string;
  readonly questions: Questions;
  readonly sentParts: SentPartsOf;
}

/** Either way; the platform takes files of 30 MB and images of 10 MB. */
export const MAX_MEDIA_BYTES = 26_214_400;
const MAX_IMAGE_BYTES = 10_485_760;

export interface Outbox {
  readonly send: Channel["send"];
  readonly prompts: Prompts;
}

export function outboxOf({ api, channel, questions, sentParts }: OutboxDeps): Outbox {
  /** `part`: each part of a delivery has its own key, which the platform remembers for an hour. */
  const post = async (
    { conversation, deliveryId, replyData }: OutgoingMessage,
    part: string,
    type: string,
    content: string,
    signal: AbortSignal,
  ): Promise<Receipt> => {
    const uuid = hash("sha256", `${deliveryId} ${part}`, "base64url").slice(0, 40);
    const body = { msg_type: type, content, uuid };
    const data = await api.call(
      { ...addressOf(conversation, replyData, part), json: { ...extrasOf(conversation, body, replyData, part) } },
      signal,
    );
    return receiptOf(conversation, data);
  };

  /** Where a message goes: under another one in a thread, as a reply in a group, else to the chat or person. */
  const addressOf = (
    conversation: Conversation,
    replyData: unknown,
    part: string,
  ): { path: string; query?: Record<string, string> } => {
    const under = underOf(conversation, replyData, part);
    if (under !== undefined) return { path: `im/v1/messages/${under}/reply` };
    return { path: "im/v1/messages", query: { receive_id_type: receiverOf(conversation.id) } };
  };

  const extrasOf = (
    conversation: Conversation,
    body: { msg_type: string; content: string; uuid: string },
    replyData: unknown,
    part: string,
  ) => {
    const { thread } = conversation;
    if (thread !== undefined) return { ...body, reply_in_thread: true };
    return underOf(conversation, replyData, part) === undefined ? { ...body, receive_id: conversation.id } : body;
  };

  const receiptOf = (conversation: Conversation, data: Fields): Receipt => {
    const id = messageId(data["message_id"]);
    const chat = chatId(data["chat_id"]);
    // An answer without a usable id is an acceptance all the same.
    const isElsewhere = chat !== undefined && chat !== conversation.id;
    return {
      ...(id !== undefined && { platformId: id }),
      ...(isElsewhere && { opened: placeOf(channel, chat, undefined) }),
    };
  };

  const send: Channel["send"] = async (message, signal) => {
    signal.throwIfAborted();
    const { text, files = [] } = message;
    const cards = text.trim() === "" ? [] : await cardsOf(text);
    if (files.length === 0 && cards.length === 1) return post(message, "text", "interactive", cards[0]!, signal);
    const sent = await sentParts(message.deliveryId);
    // All of them before anything is to be seen: a try that fails here has sent nothing.
    const uploads = new Map<number, Uploaded>();
    for (const [at, file] of files.entries()) {
      if (!sent.has(`file-${at}`)) uploads.set(at, await upload(api, file, signal));
    }
    let receipt: Receipt = sent.platformId === undefined ? {} : { platformId: sent.platformId };
    const one = async (part: string, type: string, content: string): Promise<void> => {
      if (sent.has(part)) return;
      const made = await post(message, part, type, content, signal);
      if (receipt.platformId === undefined) receipt = made;
      await sent.add(part, made.platformId);
    };
    for (const [at, json] of cards.entries()) await one(at === 0 ? "text" : `text-${at}`, "interactive", json);
    for (const [at, { type, content }] of uploads) await one(`file-${at}`, type, content);
    sent.end();
    return receipt;
  };

  const prompts: Prompts = {
    async post(message, prompt, signal) {
      signal.throwIfAborted();
      const json = questionCard(message.text, prompt, message.conversation.thread);
      const receipt =
        json === undefined ? await send(message, signal) : await post(message, "text", "interactive", json, signal);
      if (receipt.platformId !== undefined) await questions.add(receipt.platformId);
      return receipt;
    },
    async close({ platformId, text }, outcome, signal) {
      signal.throwIfAborted();
      const id = messageId(platformId);
      if (id !== undefined) await change(api, id, closedCard(text, outcome), signal);
    },
  };
  return { send, prompts };
}

/** The message to reply to; undefined: no reply. Only the first part quotes the answered message. */
function underOf({ thread }: Conversation, replyData: unknown, part: string): string | undefined {
  if (thread === undefined) return part === "text" ? messageId(fieldsOf(replyData)["messageId"]) : undefined;
  const root = messageId(thread);
  if (root === undefined) throw new SvcError("DELIVERY_REFUSED", "This is no thread of the platform.");
  return root;
}

function receiverOf(id: string): string {
  if (chatId(id) !== undefined) return "chat_id";
  if (personId(id) !== undefined) return "open_id";
  if (/^on_[A-Za-z0-9_-]{1,128}$/.test(id)) return "union_id";
  if (/^[^\s@]{1,64}@[^\s@]{1,255}$/.test(id)) return "email";
  throw new SvcError("DELIVERY_REFUSED", "This is no chat or person of the platform.", {
    hint: "Name a chat by its id (oc_…), or a person by the Open ID (ou_…) or e-mail address.",
  });
}

/** https://open.larksuite.com/document/server-docs/im-v1/message-card/patch */
const change = (api: Api, id: string, content: string, signal: AbortSignal): Promise<Fields> =>
  api.call({ method: "PATCH", path: `im/v1/messages/${id}`, json: { content } }, signal);

/** The platform takes five changes of one card in a second. */
const LEAST_EDIT_MS = 300;

/** Undefined: answers are sent when they are complete. */
export function draftsOf(
  api: Api,
  { stream_mode: mode, draft_update_interval_ms: intervalMs }: Config,
): Drafts | undefined {
  if (mode === "off") return undefined;
  return {
    mode,
    intervalMs: () => Math.max(LEAST_EDIT_MS, intervalMs),
    async edit({ platformId }, text, signal) {
      signal.throwIfAborted();
      const id = messageId(platformId);
      if (id === undefined) throw new SvcError("DELIVERY_REFUSED", "This is no message of the platform.");
      const json = await oneCardOf(text);
      if (json === undefined) throw new SvcError("DELIVERY_REFUSED", "The text has no room in one card.");
      await change(api, id, json, signal);
    },
  };
}

interface Uploaded {
  readonly type: string;
  readonly content: string;
}

/** https://open.larksuite.com/document/server-docs/im-v1/image/create, …/file/create */
async function upload(api: Api, file: OutgoingFile, signal: AbortSignal): Promise<Uploaded> {
  const bytes = await file.read();
  const name = file.name.trim() === "" ? "file" : file.name;
  if (bytes.byteLength === 0) throw new SvcError("DELIVERY_REFUSED", "The platform takes no empty file.");
  const isImage = file.kind === "image" || file.kind === "sticker";
  if (isImage && IMAGES.has(file.mimeType) && bytes.byteLength <= MAX_IMAGE_BYTES) {
    const form = await multipart({ image_type: "message" }, [{ field: "image", name, mimeType: file.mimeType, bytes }]);
    const { image_key: key } = await api.call({ path: "im/v1/images", form }, signal);
    return made("image", "image_key", key);
  }
  if (bytes.byteLength > MAX_MEDIA_BYTES) throw new SvcError("DELIVERY_REFUSED", "The file is larger than 25 MiB.");
  const fileType = fileTypeOf(file);
  const form = await multipart({ file_type: fileType, file_name: name }, [
    { field: "file", name, mimeType: file.mimeType, bytes },
  ]);
  const { file_key: key } = await api.call({ path: "im/v1/files", form }, signal);
  const type = fileType === "opus" ? "audio" : fileType === "mp4" ? "media" : "file";
  return made(type, "file_key", key);
}

function made(type: string, name: string, key: unknown): Uploaded {
  const known = fileKey(key);
  if (known === undefined) throw unreadable();
  return { type, content: JSON.stringify({ [name]: known }) };
}

const IMAGES: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/webp",
  "image/gif",
  "image/bmp",
  "image/tiff",
  "image/x-icon",
]);

/** Played in the chat are recordings in Opus and films in MP4; everything else is a file to open. */
function fileTypeOf({ kind, mimeType, name }: OutgoingFile): string {
  if (kind === "audio" && (mimeType === "audio/ogg" || mimeType === "audio/opus")) return "opus";
  if (kind === "video" && mimeType === "video/mp4") return "mp4";
  const [, ending = ""] = /\.(pdf|docx?|xlsx?|pptx?)$/i.exec(name) ?? [];
  return ending === "" ? "stream" : ending.toLowerCase().replace(/x$/, "");
}

/**
 * `chosen`: blank for none; undefined: one for the language.
 * https://open.larksuite.com/document/server-docs/im-v1/message-reaction/create, …/message-reaction/delete
 */
export function acknowledging(api: Api, languages: Languages, chosen: string | undefined): Channel["readMarks"] {
  if (chosen === "") return undefined;
  /** Ours, by the message that they are on. */
  const reactions = new Map<string, string>();
  return {
    async mark(_conversation, id, signal) {
      signal.throwIfAborted();
      // A press is no message that could carry one.
      if (messageId(id) === undefined) return;
      const emoji = chosen ?? reactionFor(languages.of(id), id);
      const json = { reaction_type: { emoji_type: emoji } };
      const { reaction_id: reaction } = await api.call({ path: `im/v1/messages/${id}/reactions`, json }, signal);
      if (typeof reaction !== "string" || !/^[\w-]{1,128}$/.test(reaction)) return;
      reactions.set(id, reaction);
      for (const oldest of reactions.keys()) if (reactions.size > MOST_REACTIONS) reactions.delete(oldest);
    },
    async clear(_conversation, id, signal) {
      signal.throwIfAborted();
      const reaction = reactions.get(id);
      if (reaction === undefined) return;
      reactions.delete(id);
      await api.call({ method: "DELETE", path: `im/v1/messages/${id}/reactions/${reaction}` }, signal);
    },
  };
}

const MOST_REACTIONS = 1_000;
