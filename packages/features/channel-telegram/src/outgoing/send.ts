/**
 * Sending. A text and one file are one message where the text fits below it; more become several, and a retry goes on where
 * the last try stopped, so that nobody reads the beginning twice.
 */
import type { Channel, Conversation, Json, OutgoingFile, OutgoingMessage } from "@svc/contract";
import { type SentParts, type SentPartsOf } from "@svc/kit";
import type { BotApi } from "../api/bot-api.ts";
import { BadFile } from "../api/special-refusals.ts";
import { type FileMethod, hasCaption, methodOf, sendFile } from "./files.ts";
import { CAPTION_CHARS, formatted, NO_PREVIEW, TEXT_CHARS, type Words, wordsOf } from "./formatted.ts";
import { placingOf } from "./placing.ts";
import type { Post } from "./post.ts";
import { receiptOf } from "./receipt.ts";
import { type Target, targetOf } from "./target.ts";

export interface SendParts {
  readonly api: BotApi;
  readonly post: Post;
  readonly sentParts: SentPartsOf;
}

interface Sending extends SendParts {
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

export function messageSender(parts: SendParts): Channel["send"] {
  return async (message, signal) => {
    signal.throwIfAborted();
    const sending = { ...parts, message, target: targetOf(message.conversation), signal };
    const sent = await parts.sentParts(message.deliveryId);
    // All of them are read before anything is to be seen: a try that fails here has sent nothing.
    const steps = stepsOf(sending, await readFiles(message, sent), sent);
    const receipt: { platformId?: string; opened?: Conversation } = {
      ...(sent.platformId !== undefined && { platformId: sent.platformId }),
    };
    for (const [place, { part, take }] of steps.entries()) {
      const { platformId, opened } = receiptOf(await take(), message.conversation);
      if (platformId !== undefined) receipt.platformId ??= platformId;
      if (opened !== undefined) receipt.opened ??= opened;
      // The last one is the end of the delivery, which is kept anyway.
      if (place < steps.length - 1) await sent.add(part, platformId);
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
  for (const [place, file] of files.entries()) {
    const part = `file ${place}`;
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

/** What the platform can't show as what it is, it takes as a document. */
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
