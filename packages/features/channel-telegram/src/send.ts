/**
 * Sending texts, files and questions. A text and one file are one message if the text fits below it; otherwise there are several,
 * and a retry continues where the last one stopped, so that people don't read the beginning twice.
 */
import {
  type Channel,
  type Conversation,
  type Inbound,
  type Json,
  type MediaKind,
  SvcError,
  type OutgoingFile,
  type OutgoingMessage,
  type Prompt,
  type Prompts,
  type Receipt,
} from "@svc/contract";
import { type SentParts, type SentPartsOf, fieldsOf } from "@svc/kit";
import type { InputFile, RawApi } from "grammy/web";
import {
  BadFile,
  BadFormatting,
  type BotApi,
  NotModified,
  type Post,
  type Signal,
  type Target,
  messageNumber,
  targetOf,
  idOf,
} from "./bot-api.ts";
import { formatMarkdown } from "./format.ts";

export interface SendDeps {
  readonly api: BotApi;
  readonly post: Post;
  readonly sentParts: SentPartsOf;
}

interface Sending extends SendDeps {
  readonly message: OutgoingMessage;
  readonly target: Target;
  readonly signal: AbortSignal;
}

interface ReadFile {
  /** In the sent parts. */
  readonly part: string;
  readonly file: OutgoingFile;
  readonly bytes: Uint8Array;
  readonly method: FileMethod;
}

export function messageSender(deps: SendDeps): Channel["send"] {
  return async (message, signal) => {
    signal.throwIfAborted();
    const sending = { ...deps, message, target: targetOf(message.conversation), signal };
    const sent = await deps.sentParts(message.deliveryId);
    // Read all files before anything is sent: a try that fails here has sent nothing.
    const steps = stepsOf(sending, await readFiles(message, sent), sent);
    const receipt: { platformId?: string; opened?: Conversation } = {
      ...(sent.platformId !== undefined && { platformId: sent.platformId }),
    };
    for (const [index, { part, take }] of steps.entries()) {
      const { platformId, opened } = receiptOf(await take(), message.conversation);
      if (platformId !== undefined) receipt.platformId ??= platformId;
      if (opened !== undefined) receipt.opened ??= opened;
      // The last part ends the delivery, which the outbox stores anyway.
      if (index < steps.length - 1) await sent.add(part, platformId);
    }
    sent.end();
    return receipt;
  };
}

interface Step {
  readonly part: string;
  readonly take: () => Promise<Json | undefined>;
}

function stepsOf(sending: Sending, files: readonly ReadFile[], sent: SentParts): Step[] {
  const text = sent.has("text") ? "" : sending.message.text;
  const [first, ...others] = files;
  if (first !== undefined && others.length === 0 && captionFits(text, first.method)) {
    return [{ part: first.part, take: () => sendOne(sending, first, text) }];
  }
  return [
    ...(text.trim() === "" ? [] : [{ part: "text", take: () => sendText(sending) }]),
    ...files.map((file) => ({ part: file.part, take: () => sendOne(sending, file, "") })),
  ];
}

async function readFiles({ files = [] }: OutgoingMessage, sent: SentParts): Promise<ReadFile[]> {
  const read: ReadFile[] = [];
  for (const [index, file] of files.entries()) {
    const part = `file ${index}`;
    if (sent.has(part)) continue;
    const bytes = await file.read();
    read.push({ part, file, bytes, method: methodOf(file, bytes) });
  }
  return read;
}

function captionFits(text: string, method: FileMethod): boolean {
  if (text.trim() === "" || !hasCaption(method)) return false;
  return text.length <= CAPTION_CHARS && wordsOf(text, CAPTION_CHARS).parse_mode !== undefined;
}

function sendText({ post, message, target, signal }: Sending): Promise<Json | undefined> {
  const placing = placingOf(target, message);
  return formatted(message.text, TEXT_CHARS, (words) =>
    post(
      target.chatId,
      (raw, chatId, s) => raw.sendMessage({ chat_id: chatId, ...words, ...placing, ...NO_PREVIEW }, s),
      signal,
    ),
  );
}

/** A file that the platform can't show as its kind is sent as a document. */
async function sendOne(sending: Sending, read: ReadFile, caption: string): Promise<Json | undefined> {
  const { api, post, message, target, signal } = sending;
  const { file, bytes } = read;
  const placing = placingOf(target, message);
  const sendAs = (method: FileMethod, words: Words | undefined) =>
    post(
      target.chatId,
      async (raw, chatId, s) => {
        const more = { ...(words && { caption: words.text, parse_mode: words.parse_mode }), ...placing };
        return sendFile(raw, { method, file: await api.upload(bytes, file.name), chatId, more }, s);
      },
      signal,
    );
  const send = (method: FileMethod) =>
    caption === "" ? sendAs(method, undefined) : formatted(caption, CAPTION_CHARS, (words) => sendAs(method, words));
  try {
    return await send(read.method);
  } catch (error) {
    if (!(error instanceof BadFile) || read.method === "document") throw error;
    return send("document");
  }
}

/** A text with its formatting; plain if the platform would refuse the formatting. */
interface Words {
  readonly text: string;
  readonly parse_mode?: "HTML";
}

/** Both limits count the text without its formatting, in UTF-16 units. https://core.telegram.org/bots/api#sendmessage */
export const TEXT_CHARS = 4096;
const CAPTION_CHARS = 1024;

/** Checks `maxChars` again: a table is longer in columns than in Markdown. */
function wordsOf(markdown: string, maxChars: number): Words {
  const { html, text } = formatMarkdown(markdown.toWellFormed());
  const isSound = text.trim() !== "" && text.length <= maxChars;
  return isSound ? { text: html, parse_mode: "HTML" } : plain(markdown);
}

/** Calls `send` again with the bare text if the platform could not read the formatting. */
export async function formatted<T>(markdown: string, maxChars: number, send: (words: Words) => Promise<T>): Promise<T> {
  try {
    return await send(wordsOf(markdown, maxChars));
  } catch (error) {
    if (!(error instanceof BadFormatting)) throw error;
    return send(plain(markdown));
  }
}

/** A draft may end in the middle of a character, which the platform would refuse. */
const plain = (text: string): Words => ({ text: text.toWellFormed() });

/** No previews: the platform would fetch every URL of an answer. https://core.telegram.org/bots/api#linkpreviewoptions */
export const NO_PREVIEW = { link_preview_options: { is_disabled: true } } as const;

/** Puts a message into its topic, and in a group below the question that it answers. */
function placingOf({ threadId }: Target, { replyData }: Pick<OutgoingMessage, "replyData">) {
  const answered = idOf(fieldsOf(replyData)["messageId"]);
  return {
    ...(threadId !== undefined && { message_thread_id: threadId }),
    ...(answered !== undefined && {
      // The question may be gone by now.
      reply_parameters: { message_id: answered, allow_sending_without_reply: true },
    }),
  };
}

/**
 * An unreadable answer counts as accepted. If the platform names another chat id than the one it was sent to (a group that has
 * moved, a @username), replies come from that id.
 */
function receiptOf(answer: Json | undefined, conversation: Conversation): Receipt {
  const { message_id: messageId, chat } = fieldsOf(answer);
  const platformId = idOf(messageId);
  const chatId = idOf(fieldsOf(chat)["id"]);
  const { threadId } = targetOf(conversation);
  const isElsewhere = chatId !== undefined && String(chatId) !== conversation.id;
  const thread = threadId === undefined ? {} : { thread: String(threadId) };
  return {
    ...(platformId !== undefined && { platformId: String(platformId) }),
    ...(isElsewhere && { opened: { channel: conversation.channel, id: String(chatId), ...thread } }),
  };
}

// Files, each sent by the method that shows it best. https://core.telegram.org/bots/api#sending-files

type FileMethod = "photo" | "animation" | "voice" | "audio" | "video" | "sticker" | "document";

/** The largest document that bots may send; they may fetch less. Decimal megabytes, as in the platform's documents. */
export const MAX_FILE_BYTES = 50_000_000;
const MAX_PHOTO_BYTES = 10_000_000;
const MAX_STICKER_BYTES = 512_000;

/** Throws DELIVERY_REFUSED for a file that the platform refuses. */
function methodOf({ kind, mimeType }: Pick<OutgoingFile, "kind" | "mimeType">, bytes: Uint8Array): FileMethod {
  if (bytes.byteLength === 0) throw unsendable("The file is empty, and the platform takes no empty file.");
  if (bytes.byteLength > MAX_FILE_BYTES) throw unsendable("The file is larger than the 50 MB that the platform takes.");
  const type = mimeType.toLowerCase();
  const shown = SHOWN[kind].find(([types]) => types.test(type))?.[1] ?? "document";
  // Too large to be shown: sent as a document.
  if (shown === "photo" && bytes.byteLength > MAX_PHOTO_BYTES) return "document";
  return shown === "sticker" && bytes.byteLength > MAX_STICKER_BYTES ? "document" : shown;
}

/** Content types and their method, by kind. A picture that must arrive unchanged is sent as a document. */
const SHOWN: Readonly<Record<MediaKind, readonly (readonly [type: RegExp, method: FileMethod])[]>> = {
  image: [
    [/^image\/gif$/, "animation"],
    [/^image\/(?:jpeg|png|webp|bmp)$/, "photo"],
  ],
  audio: [
    [/^audio\/(?:ogg|opus)$/, "voice"],
    [/^audio\/(?:mpeg|mp3|mp4|m4a|x-m4a|aac)$/, "audio"],
  ],
  video: [[/^video\/mp4$/, "video"]],
  sticker: [[/^(?:image\/webp|application\/x-tgsticker|video\/webm)$/, "sticker"]],
  document: [],
};

/** Stickers have no caption. */
const hasCaption = (method: FileMethod): boolean => method !== "sticker";

interface FilePost {
  readonly method: FileMethod;
  readonly file: InputFile;
  readonly chatId: number | string;
  /** Caption and placing. */
  readonly more: Readonly<Record<string, unknown>>;
}

function sendFile(raw: RawApi, { method, file, chatId, more }: FilePost, signal: Signal): Promise<unknown> {
  const common = { chat_id: chatId, ...more };
  switch (method) {
    case "photo":
      return raw.sendPhoto({ ...common, photo: file }, signal);
    case "animation":
      return raw.sendAnimation({ ...common, animation: file }, signal);
    case "voice":
      return raw.sendVoice({ ...common, voice: file }, signal);
    case "audio":
      return raw.sendAudio({ ...common, audio: file }, signal);
    case "video":
      return raw.sendVideo({ ...common, video: file }, signal);
    case "sticker":
      return raw.sendSticker({ ...common, sticker: file }, signal);
    default:
      return raw.sendDocument({ ...common, document: file }, signal);
  }
}

const unsendable = (message: string): SvcError => new SvcError("DELIVERY_REFUSED", message);

// Questions with buttons below them. https://core.telegram.org/bots/features#inline-keyboards

/** `send`: for a question whose labels make no buttons. */
export function promptPoster(post: Post, send: Channel["send"]): Prompts {
  return {
    async post(message, prompt, signal) {
      signal.throwIfAborted();
      const reply_markup = keyboardOf(prompt);
      if (reply_markup === undefined) return send(message, signal);
      const { conversation } = message;
      const target = targetOf(conversation);
      const words = message.text.toWellFormed();
      // Plain: the requester chose the words, and no formatting may hide any of them.
      const answer = await post(
        target.chatId,
        (raw, chat_id, s) =>
          raw.sendMessage({ chat_id, text: words, reply_markup, ...placingOf(target, message), ...NO_PREVIEW }, s),
        signal,
      );
      return receiptOf(answer, conversation);
    },
    async close({ conversation, platformId, text }, outcome, signal) {
      signal.throwIfAborted();
      if (platformId === undefined) return;
      const { chatId } = targetOf(conversation);
      const message_id = messageNumber(platformId);
      try {
        await post(
          chatId,
          (raw, chat_id, s) =>
            raw.editMessageText({ chat_id, message_id, text: ended(text, outcome), ...NO_PREVIEW }, s),
          signal,
          "edit",
        );
      } catch (error) {
        if (!(error instanceof NotModified)) throw error;
      }
    },
  };
}

/** The edit removes the buttons, as it sends none. A question that is too long is cut. */
function ended(text: string, outcome: string): string {
  const end = `\n\n${outcome.slice(0, TEXT_CHARS / 2)}`;
  const room = TEXT_CHARS - end.length;
  const asked = text.length <= room ? text : `${text.slice(0, room - 1)}…`;
  return (asked + end).toWellFormed();
}

/** The data that a pressed button sends back. https://core.telegram.org/bots/api#inlinekeyboardbutton */
const callbackData = (promptId: string, isApproval: boolean): string => `p:${promptId}:${isApproval ? "y" : "n"}`;

/** Undefined for a button that this channel did not make. */
export function choiceOf(data: string): Inbound["choice"] {
  const [, prompt, answer] = /^p:([a-z0-9-]{1,32}):([yn])$/.exec(data) ?? [];
  return prompt === undefined ? undefined : { prompt, approved: answer === "y" };
}

/** Longer ones are cut off on a phone. */
const MAX_LABEL_CHARS = 64;

/** Undefined if the labels don't fit buttons: the question is then sent as text. */
function keyboardOf({ id, approve, reject }: Prompt) {
  const fits = (label: string): boolean => label.trim() !== "" && label.length <= MAX_LABEL_CHARS;
  if (!fits(approve) || !fits(reject)) return undefined;
  const buttons = [
    { text: approve, callback_data: callbackData(id, true) },
    { text: reject, callback_data: callbackData(id, false) },
  ];
  return { inline_keyboard: [buttons] };
}
