/** Files of a mail: named with the message, fetched when its turn comes. */
import type { InboundMedia } from "@svc/contract";
import { mediaKindOf } from "@svc/kit";
import type { NewMail } from "./new-mail.ts";
import type { Part } from "./structure.ts";

/** More of them nobody reads, and each is fetched. */
const MAX_FILES = 20;

export interface Files {
  readonly media: readonly InboundMedia[];
  /** What stands for them in the text. */
  readonly placeholders: readonly string[];
}

/** Where a file is; the Message-ID finds it when the mail was moved. */
export interface FileRef {
  readonly uidValidity: string;
  readonly uid: number;
  readonly part: string;
  /** Blank: it has none. */
  readonly messageId: string;
}

export function filesOf(
  { uidValidity, uid }: Pick<NewMail, "uid" | "uidValidity">,
  messageId: string | undefined,
  parts: readonly Part[],
): Files {
  const media = parts.slice(0, MAX_FILES).map((part, index): InboundMedia => {
    const name = fileNameOf(part.fileName);
    return {
      kind: mediaKindOf(part.type),
      ref: `${uidValidity}/${uid}/${part.id}/${messageId ?? ""}`,
      placeholder: `[file ${index + 1}: ${name}, ${shownSize(part)}]`,
      mimeType: part.type,
      ...(part.fileName.trim() !== "" && { fileName: name }),
    };
  });
  const placeholders = media.map(({ placeholder }) => placeholder);
  const more = parts.length - media.length;
  return { media, placeholders: more > 0 ? [...placeholders, `[${more} more files]`] : placeholders };
}

/** Undefined for what `filesOf` did not write. */
export function fileRefOf(ref: string): FileRef | undefined {
  const [, uidValidity, uid, part, messageId = ""] =
    /^(\d{1,20})\/(\d{1,10})\/(\d{1,4}(?:\.\d{1,4}){0,50})\/(<[!-;=?-~]{1,250}>)?$/.exec(ref) ?? [];
  if (uidValidity === undefined || uid === undefined || part === undefined) return undefined;
  return { uidValidity, uid: Number(uid), part, messageId };
}

/** As it may stand in a text and in a folder. */
export function fileNameOf(name: string): string {
  const clean = name
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}[\]]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return clean === "" ? "without a name" : clean.slice(0, MAX_NAME_CHARS).toWellFormed().trim();
}

const MAX_NAME_CHARS = 200;

/** base64 has four bytes for three, and line breaks. */
export const decodedSize = ({ encoding, sizeBytes }: Pick<Part, "encoding" | "sizeBytes">): number =>
  encoding === "base64" ? Math.floor((sizeBytes * 3 * 76) / (4 * 78)) : sizeBytes;

function shownSize(part: Part): string {
  const bytes = decodedSize(part);
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
