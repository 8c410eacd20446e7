/**
 * Files on their way out: uploaded first, then named by their id in a message.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers/media
 */
import { type MediaKind, type OutgoingFile, SvcError } from "@svc/contract";
import { multipart } from "@svc/kit";
import type { GraphApi } from "./graph.ts";
import { PRODUCT, textOf } from "./protocol.ts";

export interface UploadedFile {
  readonly kind: MediaKind;
  readonly name: string;
  /** The platform's. */
  readonly id: string;
}

/** Throws DELIVERY_REFUSED for what the platform does not take, before it is sent anything. */
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

/** Either way. */
export const MAX_MEDIA_BYTES = MAX_BYTES.document;

const refused = (message: string): SvcError => new SvcError("DELIVERY_REFUSED", message);
