/** A file of the workspace that a message is to take along, checked while whoever asks can still be told. */
import { type Channel, type MediaKind, SvcError, type Workspace } from "@svc/contract";
import type { KeptFile } from "@svc/store";
import { mediaKindOf, mediaTypeOf } from "../media-type.ts";

export interface Attaching {
  readonly workspace: Workspace;
  /** Whose workspace it is. */
  readonly agent: string;
  readonly media: Channel["media"];
}

/** Throws TOOL_BAD_INPUT, PATH_* when there is no such file, or it is larger than the channel takes, or of another kind. */
export async function attachedFile({ workspace, agent, media }: Attaching, path: string): Promise<KeptFile> {
  if (!media || media.sends.length === 0) throw new SvcError("TOOL_BAD_INPUT", "This channel takes no files.");
  const own = mediaKindOf(await mediaTypeOf(path));
  const kind = kindTaken(own, media.sends);
  if (!kind) {
    const takes = media.sends.join(", ");
    throw new SvcError("TOOL_BAD_INPUT", `This channel takes no file of the kind ${own}; it takes: ${takes}.`);
  }
  // Tells that the file is there, and whether it goes on behind the largest size, without reading all of it.
  const { bytes } = await workspace.read(path, 1, media.maxBytes);
  if (bytes.byteLength > 0) {
    throw new SvcError(
      "TOOL_BAD_INPUT",
      `The file is larger than the ${media.maxBytes} bytes that this channel takes.`,
    );
  }
  return { kind, path, agent };
}

/** Every file is a document too. */
const kindTaken = (own: MediaKind, sends: readonly MediaKind[]): MediaKind | undefined =>
  [own, "document" as const].find((kind) => sends.includes(kind));
