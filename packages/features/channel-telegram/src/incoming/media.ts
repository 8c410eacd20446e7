/** Files that come with a message. https://core.telegram.org/bots/api#message */
import type { InboundMedia, Json, MediaKind } from "@svc/contract";
import { type Fields, fieldsOf, listOf, numberOf, someFields, textOf, wordOf } from "../fields.ts";

export interface MessageFile {
  readonly media: InboundMedia;
  /** Its placeholder; behind that of a sticker the emoji that it stands for. */
  readonly words: string;
}

/** The platform sends one file a message; an album is several messages. */
export function mediaOf(message: Fields): MessageFile | undefined {
  for (const [field, kind, label, mimeType] of KINDS) {
    const file = field === "photo" ? largest(message["photo"]) : someFields(message[field]);
    const media = file && fileOf(file, kind, `[${label}]`, mimeType);
    if (media) return { media, words: [media.placeholder, ...emojiOf(kind, file)].join(" ") };
  }
  return undefined;
}

/** Before `document`, which an animation has too; of a live photo the still picture is taken. */
const KINDS: readonly (readonly [field: string, kind: MediaKind, label: string, mimeType?: string])[] = [
  ["photo", "image", "image", "image/jpeg"],
  ["voice", "audio", "voice message", "audio/ogg"],
  ["audio", "audio", "audio"],
  ["video_note", "video", "video message", "video/mp4"],
  ["video", "video", "video", "video/mp4"],
  ["animation", "video", "animation", "video/mp4"],
  ["sticker", "sticker", "sticker"],
  ["document", "document", "document"],
];

function fileOf(
  file: Fields,
  kind: MediaKind,
  placeholder: string,
  standardType: string | undefined,
): InboundMedia | undefined {
  const ref = wordOf(file["file_id"]);
  if (ref === undefined) return undefined;
  const mimeType = typeOf(file["mime_type"]) ?? (kind === "sticker" ? stickerType(file) : standardType);
  const fileName = wordOf(file["file_name"]);
  return {
    kind,
    ref,
    placeholder,
    ...(mimeType !== undefined && { mimeType }),
    ...(fileName !== undefined && { fileName }),
  };
}

function largest(sizes: Json | undefined): Fields | undefined {
  const areaOf = ({ width, height }: Fields): number => (numberOf(width) ?? 0) * (numberOf(height) ?? 0);
  const all = listOf(sizes).map(fieldsOf);
  return all.toSorted((a, b) => areaOf(b) - areaOf(a))[0];
}

/** What a sticker says. */
function emojiOf(kind: MediaKind, { emoji }: Fields): string[] {
  const shown = kind === "sticker" ? textOf(emoji) : undefined;
  return shown === undefined ? [] : [shown.slice(0, MAX_EMOJI_UNITS).toWellFormed()];
}

/** Families have some thirty. */
const MAX_EMOJI_UNITS = 40;

function stickerType({ is_animated: isAnimated, is_video: isVideo }: Fields): string {
  if (isAnimated === true) return "application/x-tgsticker";
  return isVideo === true ? "video/webm" : "image/webp";
}

function typeOf(mimeType: Json | undefined): string | undefined {
  const type = wordOf(mimeType)?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(type) ? type : undefined;
}
