/**
 * Files, both ways. A file to send is uploaded first, and the message names its id. For a received file, look up the id, then fetch
 * the URL of the answer. https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers/media
 */
import { type FeatureContext, type Media, type MediaKind, type OutgoingFile, SvcError } from "@svc/contract";
import { downloadMedia, multipart } from "@svc/kit";
import type { GraphApi } from "./graph.ts";
import { type Fields, PRODUCT, numberOf, textOf } from "./protocol.ts";
import type { CloudConfig } from "./config.ts";
import { typeOf } from "./delivery.ts";

export interface UploadedFile {
  readonly kind: MediaKind;
  readonly name: string;
  /** The platform's. */
  readonly id: string;
}

/** Throws DELIVERY_REFUSED for a file that the platform does not take, before uploading anything. */
export async function uploadFile(
  graph: GraphApi,
  phoneNumberId: string,
  { kind, name, mimeType, read }: OutgoingFile,
  signal: AbortSignal,
): Promise<UploadedFile> {
  const { type, maxBytes } = uploadOf(kind, mimeType);
  const bytes = await read();
  if (bytes.byteLength > maxBytes) throw refused(`The platform takes no ${type} of this size.`);
  if (bytes.byteLength === 0) throw refused("The file is empty, and the platform takes no empty file.");
  const form = await multipart({ messaging_product: PRODUCT, type }, [{ field: "file", name, mimeType: type, bytes }]);
  const id = textOf((await graph.upload(`${phoneNumberId}/media`, form, signal))["id"]);
  if (id === undefined) throw new SvcError("DELIVERY_FAILED", "The platform took a file and told no id of it.");
  return { kind, name, id };
}

/** The upload's type and its size limit, which depends on the type, not on how the file is sent. */
function uploadOf(kind: MediaKind, mimeType: string): { type: string; maxBytes: number } {
  const type = mimeType.toLowerCase();
  // A picture that is to arrive as it is goes as a document.
  const kinds = kind === "document" ? KINDS : [kind];
  const own = kinds.find((one) => TYPES[one].has(type));
  if (own !== undefined) return { type, maxBytes: MAX_BYTES[own] };
  // Source code, tables and the like: the reader's program goes by the name.
  if (kind === "document" && IS_TEXT.test(type)) return { type: "text/plain", maxBytes: MAX_BYTES.document };
  throw refused(`The platform does not take a file of this type as ${kind}.`);
}

const IS_TEXT = /^text\/|^application\/(?:[a-z0-9.+-]+\+)?(?:json|xml|yaml|toml|javascript|x-sh|sql|x-ndjson)$/;

const OFFICE = "application/vnd.openxmlformats-officedocument";

const TYPES: Readonly<Record<MediaKind, ReadonlySet<string>>> = {
  image: new Set(["image/jpeg", "image/png"]),
  audio: new Set(["audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg"]),
  video: new Set(["video/mp4", "video/3gpp"]),
  sticker: new Set(["image/webp"]),
  document: new Set([
    "text/plain",
    "application/pdf",
    "application/msword",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    `${OFFICE}.wordprocessingml.document`,
    `${OFFICE}.spreadsheetml.sheet`,
    `${OFFICE}.presentationml.presentation`,
  ]),
};

const KINDS = Object.keys(TYPES) as readonly MediaKind[];

const MIB = 1_048_576;
/** Documents may have 100 MB there; here they are whole in memory, twice. */
const MAX_BYTES: Readonly<Record<MediaKind, number>> = {
  image: 5 * MIB,
  audio: 16 * MIB,
  video: 16 * MIB,
  sticker: 500 * 1024,
  document: 25 * MIB,
};

/** Sent or received. */
export const MAX_MEDIA_BYTES = MAX_BYTES.document;

const refused = (message: string): SvcError => new SvcError("DELIVERY_REFUSED", message);

/** Fetches a file that a person sent. */
export function inboundMedia(graph: GraphApi, config: CloudConfig, { clock, fetch }: MediaDeps): Media["fetch"] {
  const { apiUrl, accessToken, phoneNumberId } = config;
  return async ({ ref }, write, signal) => {
    // The id becomes an API path, and the sender of the delivery chose it.
    if (!/^[A-Za-z0-9_-]{1,256}$/.test(ref)) throw unfetchable("The file's id is not a valid id of the platform.");
    const info = await graph.find(ref, { phone_number_id: phoneNumberId }, signal).catch(asMediaError);
    const { url, mimeType } = described(info, apiUrl);
    const fetched = await downloadMedia(fetch, {
      url,
      headers: { authorization: `Bearer ${accessToken}` },
      maxBytes: MAX_MEDIA_BYTES,
      redirects: "same-host",
      write,
      signal,
      nowMs: clock.now(),
    });
    // An error page that comes with 200 would be saved as someone's picture.
    if (fetched.mimeType === "text/html" && mimeType !== "text/html") {
      throw new SvcError("REMOTE_UNREACHABLE", "The platform answered with a page when asked for a file.");
    }
    return mimeType === undefined ? fetched : { mimeType };
  };
}

type MediaDeps = Pick<FeatureContext, "clock" | "fetch">;

/** Throws MEDIA_REFUSED for what must not or can't be fetched. */
function described(info: Fields | undefined, apiUrl: string): { url: string; mimeType: string | undefined } {
  const url = textOf(info?.["url"]);
  if (info === undefined || url === undefined)
    throw unfetchable("The file is gone; the platform keeps one for seven days.");
  if ((numberOf(info["file_size"]) ?? 0) > MAX_MEDIA_BYTES)
    throw unfetchable(`The file is larger than ${MAX_MEDIA_BYTES / 1_048_576} MiB.`);
  if (!isPlatforms(url, apiUrl)) throw unfetchable("The platform points at a host that is not its own.");
  return { url, mimeType: typeOf(info["mime_type"]) };
}

/** The token goes along: no one else may be asked. Exempt is the API itself, which may be a proxy. */
function isPlatforms(text: string, apiUrl: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.origin === new URL(apiUrl).origin) return true;
  return url.protocol === "https:" && url.port === "" && PLATFORM_HOST.test(url.hostname);
}

/** It names lookaside.fbsbx.com today. */
const PLATFORM_HOST = /(?:^|\.)(?:fbsbx\.com|fbcdn\.net|whatsapp\.net)$/;

/** Errors of sending and of the client, as those of fetching a file. */
function asMediaError(error: unknown): never {
  if (!(error instanceof SvcError)) throw error;
  const { code, message, retryAfterMs } = error;
  // The API redirects to somewhere else.
  if (code === "DELIVERY_REFUSED" || code === "ADDRESS_REFUSED") throw unfetchable(message, error);
  if (code !== "DELIVERY_FAILED") throw error;
  throw new SvcError("REMOTE_UNREACHABLE", message, {
    cause: error,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

const unfetchable = (message: string, cause?: unknown): SvcError => new SvcError("MEDIA_REFUSED", message, { cause });
