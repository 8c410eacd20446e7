/**
 * An answer as rows of the outbox. A line of its own that names a file of the workspace becomes that file, where the channel
 * can send it; else the line stays, and says why.
 */
import type { Channel, Inbound, MediaKind, Workspace } from "@svc/contract";
import { SvcError } from "@svc/contract";
import type { KeptFile, NewDelivery } from "@svc/store";
import { attachedFile } from "../channel-send/attached-file.ts";
import { outgoingRows } from "../channel-send/outgoing-rows.ts";
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
