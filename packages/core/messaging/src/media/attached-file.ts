/** A file of the workspace that a message is to take along, checked while whoever asks can still be told. */
import { createHash } from "node:crypto";
import { type Channel, type MediaKind, SvcError, type Workspace } from "@svc/contract";
import { mediaKindOf } from "@svc/kit";
import type { FileContent, KeptFile } from "@svc/store";
import { mediaTypeOf } from "./media-type.ts";

export interface Attaching {
  readonly workspace: Workspace;
  /** Whose workspace it is. */
  readonly agent: string;
  readonly media: Channel["media"];
}

export type PinnedFile = KeptFile & Required<Pick<KeptFile, "content">>;

/** Throws TOOL_BAD_INPUT, PATH_* when there is no such file, or it is larger than the channel takes, or of another kind. */
export async function attachedFile({ workspace, agent, media }: Attaching, path: string): Promise<PinnedFile> {
  if (!media || media.sends.length === 0) throw new SvcError("TOOL_BAD_INPUT", "This channel takes no files.");
  const own = mediaKindOf(await mediaTypeOf(path));
  const kind = kindTaken(own, media.sends);
  if (!kind) {
    const takes = media.sends.join(", ");
    throw new SvcError("TOOL_BAD_INPUT", `This channel takes no file of the kind ${own}; it takes: ${takes}.`);
  }
  return { kind, path, agent, content: await contentOf(workspace, path, media.maxBytes) };
}

const PIECE_BYTES = 1_048_576;

/** Piece by piece, so that a large file needs no large memory. One that changes meanwhile matches nothing that is sent later. */
async function contentOf(workspace: Workspace, path: string, maxBytes: number): Promise<FileContent> {
  const hash = createHash("sha256");
  for (let bytes = 0; ;) {
    const piece = await workspace.read(path, PIECE_BYTES, bytes);
    hash.update(piece.bytes);
    bytes += piece.bytes.byteLength;
    if (bytes > maxBytes) {
      throw new SvcError("TOOL_BAD_INPUT", `The file is larger than the ${maxBytes} bytes that this channel takes.`);
    }
    if (!piece.truncated) return { bytes, sha256: hash.digest("hex") };
  }
}

/** Every file is a document too. */
const kindTaken = (own: MediaKind, sends: readonly MediaKind[]): MediaKind | undefined =>
  [own, "document" as const].find((kind) => sends.includes(kind));
