/**
 * Files of a workspace on their way out: checked when the message is queued, and opened when the platform takes it, by the rules
 * that are in force then. The bytes that go out are those that were queued, and that a person may have approved, or none.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { type Channel, type MediaKind, type OutgoingFile, SvcError, type Workspace } from "@svc/contract";
import type { FileContent, StoredFile } from "@svc/store";
import { mediaTypeOf } from "./incoming-files.ts";
import { mediaKindOf } from "@svc/kit";

interface Attaching {
  readonly workspace: Workspace;
  /** Whose workspace it is. */
  readonly agent: string;
  readonly media: Channel["media"];
}

export type PinnedFile = StoredFile & Required<Pick<StoredFile, "content">>;

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

/** `maxBytes`: what the channel takes. */
export type FileOpener = (file: StoredFile, maxBytes: number) => Promise<OutgoingFile>;

/** `workspaceOf`: of an agent; undefined when there is no such agent any more. */
export function fileOpener(workspaceOf: (agent: string) => Workspace | undefined): FileOpener {
  return async ({ kind, path, agent, content }, maxBytes) => ({
    kind,
    name: basename(path),
    mimeType: await mediaTypeOf(path),
    async read() {
      const workspace = workspaceOf(agent);
      if (!workspace) throw refused("The agent whose file this is, is no longer in the config.");
      const { bytes, truncated } = await workspace.read(path, maxBytes).catch(unreadable);
      // Judged by the very bytes that are sent: the path can lead elsewhere at the next look.
      if (content && (truncated || createHash("sha256").update(bytes).digest("hex") !== content.sha256)) {
        if (content.bytes > maxBytes) throw tooLarge();
        throw new SvcError("DELIVERY_FILE_CHANGED", "The file was changed after the message was queued.");
      }
      if (truncated) throw tooLarge();
      return bytes;
    },
  });
}

/** Gone or forbidden, it stays so; a file system that fails may get well. */
function unreadable(cause: unknown): never {
  if (cause instanceof SvcError && cause.code !== "TOOL_FAILED")
    throw refused("The file can't be read any more.", cause);
  throw new SvcError("DELIVERY_FAILED", "The file system could not read the file.", { cause });
}

const tooLarge = (): SvcError => refused("The file is larger than this channel takes.");

const refused = (message: string, cause?: unknown): SvcError => new SvcError("DELIVERY_REFUSED", message, { cause });
