/** Where a file that somebody sent is kept. Its name is a stranger's: only what no program can misread stays of it. */
import { type InboundMedia, trimOf } from "@svc/contract";
import { utcDay } from "../cost.ts";

const MAX_CHARS = 80;

export const MEDIA_FOLDER = "media";
/** Below it, the files of one day. */
export const DAY_FOLDER = /^\d{4}-\d\d-\d\d$/;

/** `media/<day>/<number>-<name>`: below the workspace, never hidden, the same whenever it is asked. */
export async function mediaPath(
  media: InboundMedia,
  messageNumber: number,
  place: number,
  receivedAtMs: number,
): Promise<string> {
  return mediaPathOf(media, place === 0 ? String(messageNumber) : `${messageNumber}.${place + 1}`, receivedAtMs);
}

/** `number`: tells the files of a day apart. */
export const mediaPathOf = async (media: NamedMedia, number: string, atMs: number): Promise<string> =>
  `${MEDIA_FOLDER}/${utcDay(atMs)}/${number}-${await safeName(media)}`;

type NamedMedia = Pick<InboundMedia, "kind" | "fileName" | "mimeType">;

async function safeName({ kind, fileName = "", mimeType }: NamedMedia): Promise<string> {
  const last = fileName.normalize("NFC").split(/[\\/]/).at(-1)!;
  // Letters of every language, with their marks; of the rest what means nothing to a shell, a URL, or the reader of a path.
  const clean = trimOf(last.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "-"), ".-_");
  const [, stem = clean, extension = ""] = /^(.*)(\.[A-Za-z0-9]{1,8})$/.exec(clean) ?? [];
  const name = shortened(stem, MAX_CHARS - 9) || kind;
  return name + (extension || (await extensionOf(mimeType, kind)));
}

/** No character is cut in two. */
const shortened = (text: string, maxChars: number): string => [...text].slice(0, maxChars).join("");

async function extensionOf(mimeType: string | undefined, kind: InboundMedia["kind"]): Promise<string> {
  const type = mimeType?.split(";")[0]!.trim().toLowerCase() ?? "";
  if (type === "") return USUAL[kind];
  if (Object.hasOwn(BETTER, type)) return BETTER[type]!;
  const { default: mime } = await import("mime");
  const extension = mime.getExtension(type);
  return extension === null ? USUAL[kind] : `.${extension}`;
}

/** What everybody calls them; the library knows rarer names first. */
const BETTER: Readonly<Record<string, string>> = {
  "audio/aac": ".aac",
  "audio/mpeg": ".mp3",
  "audio/ogg": ".ogg",
  "video/quicktime": ".mov",
};

const USUAL: Readonly<Record<InboundMedia["kind"], string>> = {
  image: ".jpg",
  audio: ".ogg",
  video: ".mp4",
  document: ".bin",
  sticker: ".webp",
};
