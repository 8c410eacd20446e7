/** Messages, files, edits and signs on their way out. */
import {
  type Channel,
  type Conversation,
  type Drafts,
  type Json,
  type MediaKind,
  type OutgoingFile,
  type OutgoingMessage,
  SvcError,
} from "@svc/contract";
import { type Fields, type SentPartsOf, fieldsOf, pathPart } from "@svc/kit";
import { createHash, randomUUID } from "node:crypto";
import { joinRoom } from "./account.ts";
import { type MatrixApi, isRefusal } from "./api.ts";
import type { Config } from "./config.ts";
import type { Crypto } from "./crypto.ts";
import { eventIdOf } from "./inbound.ts";
import { MAX_FILE_BYTES, uploadFile } from "./media.ts";
import { type Rooms, roomPath } from "./rooms.ts";
import { type Block, type Inline, type Item, type Table, readMarkdown } from "@svc/kit/markdown";

/** An event holds 65 536 bytes, encrypted and in base64: of 8 000 characters no script needs more, an edit and its HTML included. */
export const TEXT_CHARS = 8_000;
/** Beyond it the HTML is left out. */
const MAX_CONTENT_BYTES = 44_000;
/** The text of an edit that clients show which know no edits. */
const FALLBACK_CHARS = 1_000;

export interface OutboundDeps {
  readonly api: MatrixApi;
  readonly rooms: Rooms;
  readonly sentParts: SentPartsOf;
  /** The open machine; waits for one that is being opened. Throws CHANNEL_DOWN. */
  readonly crypto: (signal: AbortSignal) => Promise<Crypto>;
  readonly userId: (signal: AbortSignal) => Promise<string>;
  readonly ownMessages: OwnMessages;
  readonly config: Pick<Config, "stream_mode" | "draft_update_interval_ms" | "ack_reaction" | "room_id">;
}

interface RoomEvent {
  readonly roomId: string;
  readonly type: string;
  readonly content: Fields;
  /** Sent again with the same one, it arrives once. */
  readonly txnId: string;
}

/** Which messages are ours, by room and event. */
export interface OwnMessages {
  add(eventId: string): void;
  /** Asks the homeserver about one that is not remembered; false for one that is gone. Throws as `MatrixApi.call`. */
  has(roomId: string, eventId: string, signal: AbortSignal): Promise<boolean>;
}

const MOST_MESSAGES = 2_000;

export function ownMessages(api: MatrixApi, userId: (signal: AbortSignal) => Promise<string>): OwnMessages {
  const known = new Map<string, boolean>();
  const remember = (eventId: string, isOurs: boolean): boolean => {
    known.set(eventId, isOurs);
    for (const oldest of known.keys()) if (known.size > MOST_MESSAGES) known.delete(oldest);
    return isOurs;
  };
  return {
    add: (eventId) => void remember(eventId, true),
    async has(roomId, eventId, signal) {
      const answer = known.get(eventId);
      if (answer !== undefined) return answer;
      try {
        const event = await api.call({ method: "GET", path: roomPath(roomId, `event/${pathPart(eventId)}`) }, signal);
        return remember(eventId, event["sender"] === (await userId(signal)));
      } catch (error) {
        // Of one that the account may not see, homeservers say either.
        if (isRefusal(error, "M_NOT_FOUND", "M_FORBIDDEN")) return false;
        throw error;
      }
    },
  };
}

/** Field of our messages: id of the event that they answer. After a restore of a backup, such a question is not answered again. */
export const ANSWERS = "svc.answers";

/** Sends one event, encrypted where the room is. Resolves with its id. */
export type PostEvent = (event: RoomEvent, signal: AbortSignal) => Promise<string | undefined>;

export function eventPoster({ api, rooms, crypto, ownMessages: own }: OutboundDeps): PostEvent {
  return async ({ roomId, type, content, txnId }, signal) => {
    signal.throwIfAborted();
    const encryption = await rooms.encryption(roomId, signal);
    const put = async (sentType: string, json: Fields): Promise<string | undefined> => {
      const path = roomPath(roomId, `send/${pathPart(sentType)}/${pathPart(txnId)}`);
      const answer = await api.call({ method: "PUT", path, json: json as Json }, signal);
      const eventId = eventIdOf(answer["event_id"]);
      if (eventId !== undefined) own.add(eventId);
      return eventId;
    };
    if (encryption === undefined) return await put(type, content);
    const userIds = [...(await rooms.members(roomId, signal)).keys()];
    const opened = await crypto(signal);
    const sealed = await opened.encrypt({ roomId, userIds, encryption, type, content: content as Json }, signal);
    // Homeservers aggregate relations, which therefore stay readable; after a restore this device can't decrypt its own messages.
    const { "m.relates_to": relation, [ANSWERS]: answers } = content;
    return await put("m.room.encrypted", {
      ...sealed,
      ...(relation !== undefined && { "m.relates_to": relation }),
      ...(answers !== undefined && { [ANSWERS]: answers }),
    });
  };
}

/**
 * A text, then each file as a message of its own. The transaction id of each is made of the delivery's: what is sent again after
 * a lost answer or a crash is known to the homeserver, and arrives once.
 */
export function messageSender(deps: OutboundDeps, post: PostEvent): Channel["send"] {
  const { api, rooms, sentParts, config } = deps;
  const sendTo = async (roomId: string, message: OutgoingMessage, signal: AbortSignal) => {
    const sent = await sentParts(message.deliveryId);
    const files = (message.files ?? []).map((file, place) => ({ file, part: `file ${place}` }));
    const isEncrypted = files.length > 0 && (await rooms.encryption(roomId, signal)) !== undefined;
    // All of them are read before anything is to be seen: a try that fails here has sent nothing.
    const read: { readonly part: string; readonly file: OutgoingFile; readonly bytes: Uint8Array }[] = [];
    for (const { file, part } of files) if (!sent.has(part)) read.push({ part, file, bytes: await readFile(file) });
    let first = sent.platformId;
    const relation = relationOf(message);
    if (message.text.trim() !== "" && !sent.has("text")) {
      const content = { ...textContent(message.text), ...relation };
      const id = await post(
        { roomId, type: "m.room.message", content, txnId: txnIdOf(message.deliveryId, "text") },
        signal,
      );
      first ??= id;
      if (read.length > 0) await sent.add("text", id);
    }
    for (const [place, { part, file, bytes }] of read.entries()) {
      const where = await uploadFile(api, { bytes, name: file.name, mimeType: file.mimeType, isEncrypted }, signal);
      const content = { ...fileContent(file, bytes, where), ...relation };
      const type = file.kind === "sticker" ? "m.sticker" : "m.room.message";
      const id = await post({ roomId, type, content, txnId: txnIdOf(message.deliveryId, part) }, signal);
      first ??= id;
      if (place < read.length - 1) await sent.add(part, id);
    }
    sent.end();
    return first;
  };
  return async (message, signal) => {
    signal.throwIfAborted();
    const { conversation } = message;
    const roomId = await rooms.resolve(conversation.id, signal);
    const receipt = (room: string, platformId: string | undefined) => ({
      ...(platformId !== undefined && { platformId }),
      ...(room !== conversation.id && { opened: { ...conversation, id: room } satisfies Conversation }),
    });
    try {
      return receipt(roomId, await sendTo(roomId, message, signal));
    } catch (error) {
      // The alias may lead to another room by now.
      if (!isRefusal(error, "M_FORBIDDEN", "M_NOT_FOUND")) throw error;
      const moved = await rooms.moved(conversation.id, roomId, signal);
      if (moved === undefined) throw error;
      // As at the start of a connection.
      if (conversation.id.trim() === config.room_id) await joinRoom(api, moved, signal);
      return receipt(moved, await sendTo(moved, message, signal));
    }
  };
}

async function readFile(file: OutgoingFile): Promise<Uint8Array> {
  const bytes = await file.read();
  if (bytes.byteLength === 0) throw new SvcError("DELIVERY_REFUSED", "The file is empty.");
  if (bytes.byteLength > MAX_FILE_BYTES) throw new SvcError("DELIVERY_REFUSED", "The file is larger than 50 MiB.");
  return bytes;
}

/** Of any text: transaction ids are written into a path. */
export const txnIdOf = (...words: readonly string[]): string =>
  `svc-${createHash("sha256").update(JSON.stringify(words)).digest("base64url").slice(0, 40)}`;

export function textContent(markdown: string): Fields {
  const body = cleaned(markdown);
  const plain = { msgtype: "m.text", body, "m.mentions": {} };
  const html = htmlOf(body);
  if (html === undefined) return plain;
  const content = { ...plain, format: "org.matrix.custom.html", formatted_body: html };
  return Buffer.byteLength(JSON.stringify(content)) > MAX_CONTENT_BYTES ? plain : content;
}

/** A draft may end in the middle of a character; control characters are refused. */
const cleaned = (text: string): string => text.toWellFormed().replaceAll(/(?![\n\r\t])\p{Cc}/gu, "");

/** In its thread; in a room of several people below the question that it answers. */
function relationOf({ conversation: { thread }, replyData }: OutgoingMessage): Fields {
  const { eventId, isGroup } = fieldsOf(replyData);
  const answered = eventIdOf(eventId);
  const root = eventIdOf(thread);
  const answers: Fields = answered === undefined ? {} : { [ANSWERS]: answered };
  if (root !== undefined) {
    const below = { "m.in_reply_to": { event_id: answered ?? root } };
    return { ...answers, "m.relates_to": { rel_type: "m.thread", event_id: root, is_falling_back: true, ...below } };
  }
  if (answered === undefined || isGroup !== true) return answers;
  return { ...answers, "m.relates_to": { "m.in_reply_to": { event_id: answered } } };
}

const MESSAGE_TYPES: Readonly<Record<Exclude<MediaKind, "sticker">, string>> = {
  image: "m.image",
  audio: "m.audio",
  video: "m.video",
  document: "m.file",
};

function fileContent({ kind, name, mimeType }: OutgoingFile, { byteLength: size }: Uint8Array, where: Fields): Fields {
  const info = { mimetype: mimeType, size };
  const body = cleaned(name);
  if (kind === "sticker") return { body, info, ...where };
  const isVoice = kind === "audio" && /^audio\/(?:ogg|opus)$/.test(mimeType);
  return {
    msgtype: MESSAGE_TYPES[kind],
    body,
    filename: body,
    info,
    "m.mentions": {},
    ...(isVoice && { "org.matrix.msc3245.voice": {} }),
    ...where,
  };
}

/** Undefined: they are off. https://spec.matrix.org/v1.16/client-server-api/#event-replacements */
export function draftsOf({ rooms, ownMessages: own, config }: OutboundDeps, post: PostEvent): Drafts | undefined {
  const { stream_mode: mode, draft_update_interval_ms: intervalMs } = config;
  if (mode === "off") return undefined;
  return {
    mode,
    intervalMs: () => intervalMs,
    async edit({ conversation, platformId }, text, signal) {
      signal.throwIfAborted();
      const eventId = eventIdOf(platformId);
      if (eventId === undefined) throw new SvcError("DELIVERY_REFUSED", "This is no message of the platform.");
      const roomId = await rooms.resolve(conversation.id, signal);
      // Homeservers take edits of anything.
      if (!(await own.has(roomId, eventId, signal))) {
        throw new SvcError("DELIVERY_REFUSED", "The message that was to be changed is gone.");
      }
      const content = {
        msgtype: "m.text",
        body: `* ${cleaned(text).slice(0, FALLBACK_CHARS).toWellFormed()}`,
        "m.mentions": {},
        "m.new_content": textContent(text),
        "m.relates_to": { rel_type: "m.replace", event_id: eventId },
      };
      await post({ roomId, type: "m.room.message", content, txnId: `svc-${randomUUID()}` }, signal);
    },
  };
}

// Markdown as Matrix HTML. Tags are written here alone, and every text is escaped.
// https://spec.matrix.org/v1.16/client-server-api/#mroommessage-msgtypes

/** Undefined where the HTML would say nothing more than the text. */
export function htmlOf(markdown: string): string | undefined {
  const blocks = readMarkdown(markdown);
  const [only] = blocks;
  const html =
    blocks.length === 1 && only?.kind === "paragraph" ? inlineHtml(only.inlines) : blocks.map(blockHtml).join("\n");
  return html === "" || html === escaped(markdown).replaceAll("\n", "<br>") ? undefined : html;
}

function blockHtml(block: Block): string {
  switch (block.kind) {
    case "paragraph":
      return `<p>${inlineHtml(block.inlines)}</p>`;
    case "heading":
      return `<h${block.level}>${inlineHtml(block.inlines)}</h${block.level}>`;
    case "rule":
      return "<hr>";
    case "definition":
      return `<p>${escaped(block.text)}</p>`;
    case "code":
      return codeHtml(block.text, block.info);
    case "quote":
      return `<blockquote>${block.blocks.map(blockHtml).join("")}</blockquote>`;
    case "table":
      return tableHtml(block);
    case "list":
      return listHtml(block.items);
  }
}

function codeHtml(text: string, info: string): string {
  const language = /^[\w+#.-]{1,32}/.exec(info)?.[0];
  const attribute = language === undefined ? "" : ` class="language-${escaped(language)}"`;
  return `<pre><code${attribute}>${escaped(text)}\n</code></pre>`;
}

const TASKS = { open: "☐ ", done: "☑ " } as const;

/** An ordered list begins with the number of its first item. */
function listHtml(items: readonly Item[]): string {
  const number = /^(\d{1,9})/.exec(items[0]?.number ?? "")?.[1];
  const [open, close] =
    number === undefined ? ["<ul>", "</ul>"] : [number === "1" ? "<ol>" : `<ol start="${number}">`, "</ol>"];
  const inner = items.map(({ task, blocks }) => {
    const parts = blocks.map((block) => (block.kind === "paragraph" ? inlineHtml(block.inlines) : blockHtml(block)));
    return `<li>${task ? TASKS[task] : ""}${parts.join("<br>")}</li>`;
  });
  return `${open}${inner.join("")}${close}`;
}

function tableHtml({ rows }: Table): string {
  const [head = [], ...body] = rows;
  const row = (cells: readonly (readonly Inline[])[], tag: "th" | "td"): string =>
    `<tr>${cells.map((cell) => `<${tag}>${inlineHtml(cell)}</${tag}>`).join("")}</tr>`;
  return `<table><thead>${row(head, "th")}</thead><tbody>${body.map((cells) => row(cells, "td")).join("")}</tbody></table>`;
}

const TAGS = { bold: "strong", italic: "em", strike: "del" } as const;

function inlineHtml(inlines: readonly Inline[]): string {
  return inlines
    .map((inline) => {
      switch (inline.kind) {
        case "text":
          return escaped(inline.text);
        case "break":
          return "<br>";
        case "code":
          return `<code>${escaped(inline.text)}</code>`;
        case "link": {
          const label =
            inline.children.length === 0 ? escaped(inline.target) : inlineHtml(withoutLinks(inline.children));
          // What leads nowhere is read as it was written.
          if (inline.url === undefined) return inline.form === "bare" ? label : `${label} (${escaped(inline.target)})`;
          return `<a href="${escaped(inline.url)}">${label}</a>`;
        }
        default:
          return `<${TAGS[inline.kind]}>${inlineHtml(inline.children)}</${TAGS[inline.kind]}>`;
      }
    })
    .join("");
}

/** HTML has no link in a link: a picture in a label, say. */
const withoutLinks = (inlines: readonly Inline[]): Inline[] =>
  inlines.flatMap((inline): Inline[] => {
    if (inline.kind === "link") return withoutLinks(inline.children);
    return "children" in inline ? [{ ...inline, children: withoutLinks(inline.children) }] : [inline];
  });

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);
