/**
 * An answer as rows of the outbox. A line of its own that names a file of the workspace becomes that file, where the channel
 * can send it; else the line stays, and says why.
 */
import type { Channel, Inbound, MediaKind, Workspace } from "@svc/contract";
import { SvcError } from "@svc/contract";
import { splitText } from "@svc/kit";
import type { KeptFile, NewDelivery } from "@svc/store";
import { attachedFile } from "../channel-send/attached-file.ts";
import { outgoingRows } from "../channel-send/outgoing-rows.ts";
import type { MessagingSettings } from "../types.ts";
import { linesOf } from "./file-markers.ts";

export interface AnswerParts {
  readonly channel: Channel | undefined;
  /** Name of the agent. */
  readonly agent: string;
  readonly workspace: Workspace | undefined;
}

const KINDS = ["image", "audio", "video", "document"] as const;
/** A flood of files is nothing that anybody asked for. */
export const MAX_FILES = 10;

/** Said to the model; undefined where no file can be sent. */
export function filesInstruction(channel: Channel): string | undefined {
  const kinds = KINDS.filter((kind) => channel.media?.sends.includes(kind));
  if (kinds.length === 0) return undefined;
  const markers = kinds.map((kind) => `[${kind.toUpperCase()}:path]`).join(" or ");
  return `To send a file of the workspace with your answer, write ${markers} on a line of its own.`;
}

export async function answerRows(
  parts: AnswerParts,
  inbound: Inbound,
  turnId: string,
  response: string,
  maxFiles = MAX_FILES,
): Promise<NewDelivery[]> {
  const { text, files } = await taken(parts, response, maxFiles);
  const saying = { conversation: inbound.conversation, replyData: inbound.replyData, turnId };
  return [
    ...outgoingRows(parts.channel, { ...saying, text, files: [] }),
    // Each on its own: one that is tried again takes nothing along that has arrived.
    ...files.flatMap((file) => outgoingRows(parts.channel, { ...saying, text: "", files: [file] })),
  ];
}

/**
 * The answer once more as speech, behind its text. So a failure of the voice takes nothing from anybody, and no try of one repeats the
 * other. Nothing comes of an answer in which there is nothing to say.
 */
export async function spokenRows(
  { channel, agent }: AnswerParts,
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
  parts: AnswerParts,
  response: string,
  maxFiles: number,
): Promise<{ text: string; files: KeptFile[] }> {
  if (!response.includes("[")) return { text: response, files: [] };
  const files: KeptFile[] = [];
  const lines: string[] = [];
  for (const { line, names } of linesOf(response)) {
    if (!names) {
      lines.push(line);
      continue;
    }
    const kind = names.kind.toLowerCase() as MediaKind;
    const file = files.length < maxFiles ? await fileOf(parts, kind, names.path) : TOO_MANY;
    if (typeof file === "string") lines.push(`${line.trim()} (not sent: ${file})`);
    else files.push(file);
  }
  return { text: files.length > 0 ? lines.join("\n").trim() : lines.join("\n"), files };
}

const TOO_MANY = "too many files";
const CANT = "this can't be sent here";

/** Or why not. */
async function fileOf(
  { channel, agent, workspace }: AnswerParts,
  kind: MediaKind,
  path: string,
): Promise<KeptFile | string> {
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
