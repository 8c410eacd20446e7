/** Files on their way out, each by the method that shows it best. https://core.telegram.org/bots/api#sending-files */
import { type MediaKind, type OutgoingFile, SvcError } from "@svc/contract";
import type { InputFile, RawApi } from "grammy/web";
import type { Signal } from "../api/bot-api.ts";

export type FileMethod = "photo" | "animation" | "voice" | "audio" | "video" | "sticker" | "document";

/** Documents that bots may send, and what they may fetch is less. Megabytes as the documents count them. */
export const MAX_FILE_BYTES = 50_000_000;
const MAX_PHOTO_BYTES = 10_000_000;
const MAX_STICKER_BYTES = 512_000;

/** Throws DELIVERY_REFUSED for what the platform takes in no way. */
export function methodOf({ kind, mimeType }: Pick<OutgoingFile, "kind" | "mimeType">, bytes: Uint8Array): FileMethod {
  if (bytes.byteLength === 0) throw refused("The file is empty, and the platform takes no empty file.");
  if (bytes.byteLength > MAX_FILE_BYTES) throw refused("The file is larger than the 50 MB that the platform takes.");
  const type = mimeType.toLowerCase();
  const shown = SHOWN[kind].find(([types]) => types.test(type))?.[1] ?? "document";
  // What is too large to be shown is sent as it is.
  if (shown === "photo" && bytes.byteLength > MAX_PHOTO_BYTES) return "document";
  return shown === "sticker" && bytes.byteLength > MAX_STICKER_BYTES ? "document" : shown;
}

/** By kind: what its type has to be for a method. A picture that is to arrive as it is goes as a document. */
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

/** Stickers have no words below them. */
export const hasCaption = (method: FileMethod): boolean => method !== "sticker";

export interface FilePost {
  readonly method: FileMethod;
  readonly file: InputFile;
  readonly chatId: number | string;
  /** Caption and placing. */
  readonly more: Readonly<Record<string, unknown>>;
}

export function sendFile(raw: RawApi, { method, file, chatId, more }: FilePost, signal: Signal): Promise<unknown> {
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

const refused = (message: string): SvcError => new SvcError("DELIVERY_REFUSED", message);
