/** What a message holds: marked text, files, cards. https://core.telegram.org/bots/api#message */
import type { InboundMedia, Json, MediaKind } from "@svc/contract";
import { type Fields, fieldsOf, listOf, numberOf, someFields, textOf, wordOf } from "./protocol.ts";

/**
 * What the platform marks in a text. Links that are not to be seen and blocks of code are written out for the model; where
 * the bot is called by its name, the name goes.
 * https://core.telegram.org/bots/api#messageentity
 */
export interface Me {
  readonly id: number | undefined;
  readonly username: string | undefined;
}

interface Mark {
  readonly type: string;
  /** Both in UTF-16 units, as strings here are counted too. */
  readonly start: number;
  readonly end: number;
  readonly fields: Fields;
}

export function isMentioned(text: string, entities: Json | undefined, me: Me): boolean {
  return marksIn(text, entities).some((mark) => isMention(text, mark, me));
}

/** As the model reads it. Only at the ends does the name go: in the middle of a sentence it is a part of it. */
export function readableText(text: string, entities: Json | undefined, me: Me): string {
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  const parts: string[] = [];
  let at = 0;
  let isCalled = false;
  for (const mark of marksIn(text, entities).toSorted((a, b) => a.start - b.start)) {
    // One within another, or two that overlap: the first one has been written out.
    if (mark.start < at) continue;
    const isAtEnd = mark.start <= start || mark.end >= end;
    const isCall = isAtEnd && isMention(text, mark, me);
    const instead = isCall ? "" : writtenOut(text, mark);
    if (instead === undefined) continue;
    isCalled ||= isCall;
    parts.push(text.slice(at, mark.start), instead);
    at = mark.end;
  }
  const readable = [...parts, text.slice(at)].join("");
  if (!isCalled) return readable;
  const said = readable.replace(/^\s*[,:;]?\s*/, "").trimEnd();
  // Nothing but the name: it is what was said.
  return said === "" ? text : said;
}

function marksIn(text: string, entities: Json | undefined): Mark[] {
  return listOf(entities).flatMap((entity) => {
    const fields = fieldsOf(entity);
    const [start, length] = [numberOf(fields["offset"]), numberOf(fields["length"])];
    if (start === undefined || length === undefined) return [];
    const isInside = Number.isInteger(start) && Number.isInteger(length) && start >= 0 && length > 0;
    if (!isInside || start + length > text.length) return [];
    return [{ type: String(textOf(fields["type"])), start, end: start + length, fields }];
  });
}

function isMention(text: string, { type, start, end, fields }: Mark, { id, username }: Me): boolean {
  if (type === "text_mention") return id !== undefined && fieldsOf(fields["user"])["id"] === id;
  if (type !== "mention" || username === undefined) return false;
  return text.slice(start, end).toLowerCase() === `@${username.toLowerCase()}`;
}

/** Undefined: as it is. */
function writtenOut(text: string, { type, start, end, fields }: Mark): string | undefined {
  const part = text.slice(start, end);
  if (type === "text_link") {
    const url = textOf(fields["url"]);
    return url === undefined ? undefined : `[${part}](${url})`;
  }
  if (type !== "pre") return undefined;
  const language = /^[\w+#.-]{1,32}$/.exec(textOf(fields["language"]) ?? "")?.[0] ?? "";
  return `\`\`\`${language}\n${part.replace(/\n$/, "")}\n\`\`\``;
}

/** Files that come with a message. https://core.telegram.org/bots/api#message */
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

/** Undefined for what says nothing to an agent: messages about the chat itself (who came, who left, what was pinned). */
export function cardText(message: Fields): string | undefined {
  const card = CARDS.find(([field]) => someFields(message[field]) !== undefined);
  return card?.[1](fieldsOf(message[card[0]]));
}

/** A venue has a `location` beside it, too. */
const CARDS: readonly (readonly [field: string, read: (card: Fields) => string | undefined])[] = [
  ["venue", ({ location, title, address }) => placeText(fieldsOf(location), [title, address])],
  ["location", (location) => placeText(location, [])],
  ["contact", contactText],
  ["poll", pollText],
  ["dice", ({ emoji, value }) => `[${textOf(emoji) ?? "dice"}: ${numberOf(value) ?? "?"}]`],
  ["rich_message", richText],
  ["checklist", ({ title, tasks }) => listText("Checklist", textOf(title), tasks)],
  // Their content is not for bots; that there was one is.
  ["story", () => "[story]"],
  ["paid_media", () => "[paid media]"],
  ["game", ({ title }) => `[game: ${textOf(title) ?? ""}]`],
  ["invoice", ({ title }) => `[invoice: ${textOf(title) ?? ""}]`],
];

function placeText({ latitude, longitude }: Fields, words: readonly (Json | undefined)[]): string | undefined {
  const [lat, long] = [numberOf(latitude), numberOf(longitude)];
  if (lat === undefined || long === undefined) return undefined;
  return [`Location: ${lat}, ${long}`, ...words.map(textOf).filter((word) => word !== undefined)].join("\n");
}

function contactText({ first_name: first, last_name: last, phone_number: phone }: Fields): string | undefined {
  const name = [first, last].map(textOf).filter((word) => word !== undefined);
  const words = [name.join(" "), textOf(phone)].filter((word) => word);
  return words.length === 0 ? undefined : `Contact: ${words.join(", ")}`;
}

function pollText({ question, options }: Fields): string | undefined {
  return listText("Poll", textOf(question), options);
}

function listText(what: string, title: string | undefined, items: Json | undefined): string | undefined {
  if (title === undefined) return undefined;
  const lines = listOf(items).flatMap((item) => textOf(fieldsOf(item)["text"]) ?? []);
  return [`${what}: ${title}`, ...lines.map((line) => `- ${line}`)].join("\n");
}

/**
 * The text of a message with headings, tables and other blocks, unknown kinds included. https://core.telegram.org/bots/api#richmessage
 */
function richText(message: Json | undefined): string | undefined {
  return linesOf(fieldsOf(message)["blocks"]).join("\n") || undefined;
}

/** The platform nests sixteen levels. */
const MAX_DEPTH = 20;

function linesOf(blocks: Json | undefined, depth = 0): string[] {
  if (depth > MAX_DEPTH) return [];
  return listOf(blocks).flatMap((block) => {
    const { summary, text, expression, blocks: inner, items, cells, caption } = fieldsOf(block);
    const rows = listOf(cells).map((row) =>
      listOf(row)
        .map((cell) => wordsOf(fieldsOf(cell)["text"]))
        .join(" | "),
    );
    return [
      wordsOf(summary),
      wordsOf(text),
      textOf(expression) ?? "",
      ...linesOf(inner, depth + 1),
      ...linesOf(items, depth + 1),
      ...rows,
      wordsOf(caption),
    ].filter((line) => line.trim() !== "");
  });
}

/** Of one line: a text, or texts and formatted texts one after the other. */
function wordsOf(text: Json | undefined, depth = 0): string {
  if (depth > MAX_DEPTH) return "";
  if (typeof text === "string") return text;
  if (Array.isArray(text)) return (text as Json[]).map((part) => wordsOf(part, depth + 1)).join("");
  const { text: inner, alternative_text: emoji, expression } = fieldsOf(text);
  return inner === undefined ? (textOf(emoji) ?? textOf(expression) ?? "") : wordsOf(inner, depth + 1);
}
