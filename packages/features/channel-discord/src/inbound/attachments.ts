/**
 * Files and stickers of a message, with what stands for them in its text.
 * https://docs.discord.com/developers/resources/message#attachment-object
 */
import type { InboundMedia, MediaKind } from "@svc/contract";
import { type Fields, fieldsOf, listOf, numberOf, textOf, wordOf } from "../api/fields.ts";
import { idOf } from "../api/snowflake.ts";

/** More than the platform lets anybody attach. */
const MOST = 20;

export function attachmentsOf(message: Fields): InboundMedia[] {
  return listOf(message["attachments"])
    .slice(0, MOST)
    .flatMap((attachment) => fileOf(fieldsOf(attachment)) ?? []);
}

function fileOf({ url, filename, content_type: type, waveform }: Fields): InboundMedia | undefined {
  const ref = textOf(url);
  // A link of another length is none that the platform made, and it is kept as long as the message.
  if (ref === undefined || ref.length > 4096) return undefined;
  const mimeType = typeOf(type);
  const kind = textOf(waveform) === undefined ? kindOf(mimeType) : "audio";
  const fileName = wordOf(filename);
  return {
    kind,
    ref,
    placeholder: fileName === undefined ? `[${kind}]` : `[${kind}: ${fileName}]`,
    ...(mimeType !== undefined && { mimeType }),
    ...(fileName !== undefined && { fileName }),
  };
}

/** Without parameters: `text/plain; charset=utf-8`. */
function typeOf(type: unknown): string | undefined {
  const plain = textOf(type)?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(plain) ? plain : undefined;
}

function kindOf(mimeType: string | undefined): MediaKind {
  const [top] = mimeType?.split("/", 1) ?? [];
  return top === "image" || top === "audio" || top === "video" ? top : "document";
}

/** Stickers: `cdn` and, for those that move, another host. A sticker that is a drawing in JSON is only named. */
export function stickersOf(message: Fields, cdn: Cdn): { readonly media: InboundMedia[]; readonly named: string[] } {
  const media: InboundMedia[] = [];
  const named: string[] = [];
  for (const sticker of listOf(message["sticker_items"]).slice(0, MOST).map(fieldsOf)) {
    const [id, name] = [idOf(sticker["id"]), wordOf(sticker["name"]) ?? "without a name"];
    const place = id === undefined ? undefined : placeOf(id, numberOf(sticker["format_type"]), cdn);
    const placeholder = `[sticker: ${name}]`;
    if (place === undefined) named.push(placeholder);
    else media.push({ kind: "sticker", ...place, placeholder });
  }
  return { media, named };
}

/** Where the platform's files are. https://docs.discord.com/developers/reference#image-formatting */
export interface Cdn {
  readonly images: string;
  readonly moving: string;
}

/** 1 PNG, 2 APNG, 3 Lottie, 4 GIF: https://docs.discord.com/developers/resources/sticker#sticker-object */
function placeOf(id: string, format: number | undefined, { images, moving }: Cdn) {
  if (format === 1 || format === 2) return { ref: `${images}/stickers/${id}.png`, mimeType: "image/png" };
  if (format === 4) return { ref: `${moving}/stickers/${id}.gif`, mimeType: "image/gif" };
  return undefined;
}
