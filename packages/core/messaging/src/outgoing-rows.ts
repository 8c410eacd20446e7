/**
 * Text and files as rows of the outbox. A line of an answer that names a file of the workspace becomes that file, if the channel
 * can send it; else the line stays, with the reason.
 */
import {
  type Channel,
  type Conversation,
  DEFAULT_MAX_CHARS,
  type Inbound,
  type Json,
  type MediaKind,
  SvcError,
  type Workspace,
} from "@svc/contract";
import { keyOfConversation, splitText } from "@svc/kit";
import type { StoredFile, NewDelivery } from "@svc/store";
import { attachedFile } from "./media/outgoing-files.ts";
import type { MessagingSettings } from "./types.ts";

/** What is to be sent. */
export interface Outgoing {
  readonly conversation: Conversation;
  readonly text: string;
  readonly files: readonly StoredFile[];
  readonly replyData?: Json | undefined;
  readonly turnId?: string | undefined;
  /** The key of one of its rows, by its place from 1 on. */
  readonly keyOf?: (part: number) => string;
}

/**
 * The text in as many messages as the channel's limit makes of it, then each file on its own: an attempt that is repeated sends
 * nothing again that has arrived. No rows for a blank text without files.
 */
export function outgoingRows(channel: Pick<Channel, "text"> | undefined, outgoing: Outgoing): NewDelivery[] {
  const { conversation, text, files, replyData, turnId, keyOf } = outgoing;
  const conversationKey = keyOfConversation(conversation);
  const texts = splitText(text, channel?.text?.maxChars ?? DEFAULT_MAX_CHARS);
  const parts = [
    ...texts.map((part) => ({ text: part, files: [] })),
    ...files.map((file) => ({ text: "", files: [file] })),
  ];
  return parts.map((part, index) => ({
    ...part,
    conversation,
    conversationKey,
    ...(replyData !== undefined && { replyData }),
    ...(turnId !== undefined && { turnId }),
    ...(keyOf && { key: keyOf(index + 1) }),
  }));
}

/** The first row that has a text takes the place of the draft that the platform has already. */
export function inPlaceOf(draft: string | undefined, rows: readonly NewDelivery[]): readonly NewDelivery[] {
  const first = draft === undefined ? -1 : rows.findIndex(({ text }) => text !== "");
  return first < 0 ? rows : rows.with(first, { ...rows[first]!, draft: draft! });
}

/** Where an answer goes, and whose files it may name. */
export interface AnswerTarget {
  readonly channel: Channel | undefined;
  /** Name of the agent. */
  readonly agent: string;
  readonly workspace: Workspace | undefined;
}

const KINDS = ["image", "audio", "video", "document"] as const;
/** A model that names every file of a folder must not flood a conversation. */
export const MAX_FILES = 10;

/** For the model; undefined where no file can be sent. */
export function filesInstruction(channel: Channel): string | undefined {
  const kinds = KINDS.filter((kind) => channel.media?.sends.includes(kind));
  if (kinds.length === 0) return undefined;
  const markers = kinds.map((kind) => `[${kind.toUpperCase()}:path]`).join(" or ");
  return `To send a file of the workspace with your answer, write ${markers} on a line of its own.`;
}

export async function answerRows(
  target: AnswerTarget,
  inbound: Inbound,
  turnId: string,
  response: string,
  maxFiles = MAX_FILES,
): Promise<NewDelivery[]> {
  const { text, files } = await taken(target, response, maxFiles);
  const saying = { conversation: inbound.conversation, replyData: inbound.replyData, turnId };
  return [
    ...outgoingRows(target.channel, { ...saying, text, files: [] }),
    // Each on its own: an attempt that is repeated sends nothing again that has arrived.
    ...files.flatMap((file) => outgoingRows(target.channel, { ...saying, text: "", files: [file] })),
  ];
}

/**
 * The answer once more as speech, behind its text: no word is missing if the speech fails, and no attempt of one repeats the
 * other. No rows for an answer in which there is nothing to say.
 */
export async function spokenRows(
  { channel, agent }: AnswerTarget,
  { speech, spokenAnswers }: Pick<MessagingSettings, "speech" | "spokenAnswers">,
  inbound: Inbound,
  turnId: string,
  response: string,
): Promise<NewDelivery[]> {
  if (!speech || !channel?.media?.sends.includes("audio")) return [];
  const which = spokenAnswers(inbound.conversation.channel);
  if (which === "never" || (which === "voice" && !cameAsVoice(inbound))) return [];
  const { speakableOf } = await import("@svc/kit/markdown");
  const lines = linesOf(response).flatMap(({ line, names }) => (names ? [] : [line]));
  const [speak] = splitText(speakableOf(lines.join("\n")), speech.maxChars);
  if (speak === undefined) return [];
  const { conversation, replyData } = inbound;
  return outgoingRows(channel, {
    conversation,
    replyData,
    turnId,
    text: "",
    files: [{ kind: "audio", path: "answer", agent, speak }],
  });
}

const cameAsVoice = ({ media = [] }: Inbound): boolean => media.some(({ kind }) => kind === "audio");

async function taken(
  target: AnswerTarget,
  response: string,
  maxFiles: number,
): Promise<{ text: string; files: StoredFile[] }> {
  if (!response.includes("[")) return { text: response, files: [] };
  const files: StoredFile[] = [];
  const lines: string[] = [];
  for (const { line, names } of linesOf(response)) {
    if (!names) {
      lines.push(line);
      continue;
    }
    const kind = names.kind.toLowerCase() as MediaKind;
    const file = files.length < maxFiles ? await fileOf(target, kind, names.path) : TOO_MANY;
    if (typeof file === "string") lines.push(`${line.trim()} (not sent: ${file})`);
    else files.push(file);
  }
  return { text: files.length > 0 ? lines.join("\n").trim() : lines.join("\n"), files };
}

const TOO_MANY = "too many files";
const CANT = "this can't be sent here";

/** A string: the reason why it can't be sent. */
async function fileOf(
  { channel, agent, workspace }: AnswerTarget,
  kind: MediaKind,
  path: string,
): Promise<StoredFile | string> {
  const media = channel?.media;
  if (!media?.sends.includes(kind) || !workspace) return CANT;
  try {
    const file = await attachedFile({ workspace, agent, media }, path);
    // A picture may be meant to go as it is, which platforms do with documents only.
    return kind === "document" ? { ...file, kind } : file;
  } catch (error) {
    if (!(error instanceof SvcError)) return CANT;
    return `${error.message.charAt(0).toLowerCase()}${error.message.slice(1).replace(/\.$/, "")}`;
  }
}

// Lines of an answer that name a file of the workspace: `[IMAGE:charts/june.png]`. In a code block they are only text.

export interface AnswerLine {
  readonly line: string;
  /** Inside of a code block. */
  readonly isCode: boolean;
  /** Undefined: a line of text. */
  readonly names: { readonly kind: string; readonly path: string } | undefined;
}

const MARKER = /^\s*\[(IMAGE|AUDIO|VIDEO|DOCUMENT):([^[\]]+)\]\s*$/;

export function linesOf(text: string): AnswerLine[] {
  let isCode = false;
  return text.split("\n").map((line) => {
    if (line.trimStart().startsWith("```")) isCode = !isCode;
    const [, kind, path] = (!isCode && MARKER.exec(line)) || [];
    const names = kind === undefined || path === undefined ? undefined : { kind, path: path.trim() };
    return { line, isCode, names };
  });
}

/** Whether a line that is not complete yet may become one. */
export function isMarkerBegun(line: string): boolean {
  const begun = line.trimStart();
  return KINDS.map((kind) => `[${kind.toUpperCase()}:`).some(
    (opening) => opening.startsWith(begun) || (begun.startsWith(opening) && !/[[\]]/.test(begun.slice(1))),
  );
}
