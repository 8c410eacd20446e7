/** Methods that send: a text, or a file of each kind. https://core.telegram.org/bots/api#available-methods */
import type { Json } from "@svc/contract";
import { badRequest, TelegramError } from "./answer.ts";
import type { Chats, TelegramChat, TelegramSent } from "./chats.ts";
import type { FormPart } from "./form.ts";
import { buttonsOf } from "./keyboard.ts";
import type { Parameters, ParameterSpec } from "./parameters.ts";
import { captionText, messageText } from "./text.ts";

const COMMON: ParameterSpec = {
  chat_id: "chat!",
  message_thread_id: "integer",
  reply_parameters: "object",
  reply_markup: "object",
  disable_notification: "boolean",
  protect_content: "boolean",
};

export const SEND_MESSAGE: ParameterSpec = {
  ...COMMON,
  text: "text!",
  parse_mode: "text",
  link_preview_options: "object",
};

/** By method: the parameter that is the file, and the most bytes of it. */
export const FILE_METHODS: Readonly<Record<string, { readonly kind: string; readonly maxBytes: number }>> = {
  sendPhoto: { kind: "photo", maxBytes: 10_000_000 },
  sendAudio: { kind: "audio", maxBytes: 50_000_000 },
  sendVoice: { kind: "voice", maxBytes: 50_000_000 },
  sendVideo: { kind: "video", maxBytes: 50_000_000 },
  sendAnimation: { kind: "animation", maxBytes: 50_000_000 },
  sendDocument: { kind: "document", maxBytes: 50_000_000 },
  sendSticker: { kind: "sticker", maxBytes: 512_000 },
};

export const fileSpec = (kind: string): ParameterSpec => ({
  ...COMMON,
  [kind]: "file!",
  ...(kind !== "sticker" && { caption: "text", parse_mode: "text" }),
});

export function sendMessage(chats: Chats, { values }: Parameters): TelegramSent {
  const chat = chats.find(values["chat_id"] as Json);
  const { text, entities } = messageText(values["text"], values["parse_mode"]);
  const { is_disabled: isDisabled, ...otherOptions } = (values["link_preview_options"] ?? {}) as Record<string, Json>;
  if (Object.keys(otherOptions).length > 0) throw badRequest("can't parse link preview options");
  const hasPreview = isDisabled !== true && /https?:\/\//.test(text);
  return chats.send({ ...placed(chats, chat, values), text, entities, file: undefined, hasPreview });
}

export function sendFile(chats: Chats, method: string, { values, files }: Parameters): TelegramSent {
  const { kind, maxBytes } = FILE_METHODS[method] as { kind: string; maxBytes: number };
  const chat = chats.find(values["chat_id"] as Json);
  const part = uploaded(values[kind], files, kind);
  if (part.bytes.length > 50_000_000) throw new TelegramError({ code: 413, description: "Request Entity Too Large" });
  if (part.bytes.length > maxBytes) throw badRequest("file is too big");
  if (part.bytes.length === 0) throw badRequest("file must be non-empty");
  if (kind === "photo" && !isPicture(part.bytes)) throw badRequest("IMAGE_PROCESS_FAILED");
  if (kind === "sticker" && part.bytes.subarray(8, 12).toString() !== "WEBP") throw badRequest("wrong file type");
  const { text, entities } = captionText(values["caption"], values["parse_mode"]);
  const file = { kind, name: part.fileName ?? "", bytes: part.bytes };
  return chats.send({ ...placed(chats, chat, values), text, entities, file, hasPreview: false });
}

function placed(chats: Chats, chat: TelegramChat, values: Parameters["values"]) {
  return {
    chatId: chat.id,
    threadId: threadOf(chat, values["message_thread_id"]),
    repliesTo: repliedTo(chats, chat, values["reply_parameters"]),
    ...buttonsOf(values["reply_markup"]),
  };
}

/** General has no number that could be written to. */
function threadOf({ topics = [] }: TelegramChat, thread: Json | undefined): number | undefined {
  if (thread === undefined) return undefined;
  if (!topics.includes(thread as number)) throw badRequest("message thread not found");
  return thread as number;
}

function repliedTo(chats: Chats, chat: TelegramChat, parameters: Json | undefined): number | undefined {
  if (parameters === undefined) return undefined;
  const {
    message_id: id,
    allow_sending_without_reply: isOptional = false,
    ...rest
  } = parameters as Record<string, Json>;
  const isSound = Number.isSafeInteger(id) && typeof isOptional === "boolean" && Object.keys(rest).length === 0;
  if (!isSound) throw badRequest("can't parse reply parameters");
  if (chats.has(chat.id, id as number)) return id as number;
  if (!isOptional) throw badRequest("message to be replied not found");
  return undefined;
}

function uploaded(value: Json | undefined, files: ReadonlyMap<string, FormPart>, name: string): FormPart {
  const attached = typeof value === "string" ? /^attach:\/\/(.+)$/.exec(value)?.[1] : name;
  const part = attached === undefined ? undefined : files.get(attached);
  // Ids and URLs of files are not sent by the channel.
  if (part === undefined) throw badRequest("wrong remote file identifier specified: wrong string length");
  return part;
}

/** PNG, JPEG, GIF, WebP. */
const isPicture = (bytes: Buffer): boolean =>
  ["89504e47", "ffd8ff", "47494638", "52494646"].some((start) => bytes.toString("hex", 0, 4).startsWith(start));
