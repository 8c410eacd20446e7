/**
 * Sending. A text and one file are one message where the text fits below it; more become several, and a retry goes on where
 * the last try stopped, so that people don't read the beginning twice.
 */
import type { Channel, Conversation, Json, OutgoingFile, OutgoingMessage, Receipt } from "@svc/contract";
import type { SentParts, SentPartsOf } from "@svc/kit";
import { BadFile, BadFormatting, type BotApi } from "./bot-api.ts";
import { type FileMethod, hasCaption, methodOf, sendFile } from "./files.ts";
import { formatMarkdown } from "./format.ts";
import { type Post, type Target, targetOf } from "./post.ts";
import { fieldsOf, idOf } from "./protocol.ts";

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
    // All of them are read before anything is to be seen: a try that fails here has sent nothing.
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

/** A text with its formatting; plain where the platform would not take it so. */
interface Words {
  readonly text: string;
  readonly parse_mode?: "HTML";
}

/** Both after the formatting was read, in UTF-16 units. https://core.telegram.org/bots/api#sendmessage */
export const TEXT_CHARS = 4096;
const CAPTION_CHARS = 1024;

/** `maxChars`: a table takes more room in columns than as it is written. */
function wordsOf(markdown: string, maxChars: number): Words {
  const { html, text } = formatMarkdown(markdown.toWellFormed());
  const isSound = text.trim() !== "" && text.length <= maxChars;
  return isSound ? { text: html, parse_mode: "HTML" } : plain(markdown);
}

/** `send` is called once more, with the bare text, when the platform could not read the formatting. */
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

/** Where in a chat a message is put: in its topic, and in a group below the question that it answers. */
export function placingOf({ threadId }: Target, { replyData }: Pick<OutgoingMessage, "replyData">) {
  const answered = idOf(fieldsOf(replyData)["messageId"]);
  return {
    ...(threadId !== undefined && { message_thread_id: threadId }),
    ...(answered !== undefined && {
      // The question may be gone by now.
      reply_parameters: { message_id: answered, allow_sending_without_reply: true },
    }),
  };
}

// What the platform says of a message that it took.

/**
 * An answer that can't be read is an acceptance all the same. Where the chat has another id there than it was written to
 * by (a group that has moved, a @username), answers come in from that.
 */
export function receiptOf(answer: Json | undefined, conversation: Conversation): Receipt {
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
