/**
 * A file of a workspace on its way out: opened when the platform takes it, by the rules that are in force then. The bytes that
 * go out are those that were queued, and that a person may have approved, or none.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { type OutgoingFile, SvcError, type Workspace } from "@svc/contract";
import type { KeptFile } from "@svc/store";
import { mediaTypeOf } from "./media-type.ts";

/** `maxBytes`: what the channel takes. */
export type FileOpener = (file: KeptFile, maxBytes: number) => Promise<OutgoingFile>;

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
