/** Files that people send, and files on their way out. */
import { type FeatureContext, type Media, type MediaKind, type OutgoingFile, SvcError } from "@svc/contract";
import { downloadMedia, pathPart } from "@svc/kit";
import type { InputFile, RawApi } from "grammy/web";
import type { BotApi, Signal } from "./bot-api.ts";
import type { Config } from "./config.ts";
import { fieldsOf, textOf } from "./protocol.ts";

/**
 * Files that people send, in two steps: the id is looked up, and what it leads to is fetched. The URL of a file has the token
 * in it: it is in no error and no line of the log.
 * https://core.telegram.org/bots/api#getfile
 */
export function mediaFetch(
  api: BotApi,
  { config, fetch, clock }: Pick<FeatureContext<Config>, "config" | "fetch" | "clock">,
): Media["fetch"] {
  return async ({ ref }, write, signal) => {
    if (!/^[\w-]{1,512}$/.test(ref)) throw unfetchable("This is no file id of the platform.");
    const file = fieldsOf(await api.call((raw, s) => raw.getFile({ file_id: ref }, s), signal).catch(asMediaError));
    const { mimeType } = await downloadMedia(fetch, {
      url: `${config.api_url}/file/bot${config.bot_token}/${pathOf(textOf(file["file_path"]))}`,
      maxBytes: MAX_FILE_BYTES,
      redirects: "same-host",
      write,
      signal,
      nowMs: clock.now(),
    });
    // The platform says this of every file; what the message said of it is better.
    return mimeType === undefined || mimeType === "application/octet-stream" ? {} : { mimeType };
  };
}

/** Below the platform's own folder. A server of one's own that keeps files to itself names a path of its machine. */
function pathOf(path: string | undefined): string {
  if (path === undefined) throw new SvcError("REMOTE_UNREACHABLE", "The platform does not say where the file is.");
  if (path.startsWith("/")) {
    throw unfetchable("The server keeps files to itself.", "Run your Bot API server without --local.");
  }
  return path
    .split("/")
    .map((part) => pathPart(part, "MEDIA_REFUSED"))
    .join("/");
}

/** Errors of sending, as those of fetching a file. */
function asMediaError(error: unknown): never {
  if (!(error instanceof SvcError)) throw error;
  const { code, message, hint, retryAfterMs } = error;
  // The API redirects to somewhere else.
  if (code === "DELIVERY_REFUSED" || code === "ADDRESS_REFUSED") throw unfetchable(message, hint);
  if (code !== "DELIVERY_FAILED") throw error;
  throw new SvcError("REMOTE_UNREACHABLE", message, { ...(retryAfterMs !== undefined && { retryAfterMs }) });
}

const unfetchable = (message: string, hint?: string): SvcError =>
  new SvcError("MEDIA_REFUSED", message, { ...(hint !== undefined && { hint }) });

/** Files on their way out, each by the method that shows it best. https://core.telegram.org/bots/api#sending-files */
export type FileMethod = "photo" | "animation" | "voice" | "audio" | "video" | "sticker" | "document";

/** Documents that bots may send, and what they may fetch is less. Megabytes as the documents count them. */
export const MAX_FILE_BYTES = 50_000_000;
const MAX_PHOTO_BYTES = 10_000_000;
const MAX_STICKER_BYTES = 512_000;

/** Throws DELIVERY_REFUSED for a file that the platform does not take. */
export function methodOf({ kind, mimeType }: Pick<OutgoingFile, "kind" | "mimeType">, bytes: Uint8Array): FileMethod {
  if (bytes.byteLength === 0) throw unsendable("The file is empty, and the platform takes no empty file.");
  if (bytes.byteLength > MAX_FILE_BYTES) throw unsendable("The file is larger than the 50 MB that the platform takes.");
  const type = mimeType.toLowerCase();
  const shown = SHOWN[kind].find(([types]) => types.test(type))?.[1] ?? "document";
  // Too large to be shown: sent as a document.
  if (shown === "photo" && bytes.byteLength > MAX_PHOTO_BYTES) return "document";
  return shown === "sticker" && bytes.byteLength > MAX_STICKER_BYTES ? "document" : shown;
}

/** By kind: the content types of its method. A picture that must arrive unchanged is sent as a document. */
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

const unsendable = (message: string): SvcError => new SvcError("DELIVERY_REFUSED", message);
