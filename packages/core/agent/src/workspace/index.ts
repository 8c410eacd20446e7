/**
 * The workspace: the only way tools reach files. A path is judged twice, as it was written and, once the thing is open,
 * by where that very thing really is; no byte is read or written before the second answer.
 */
import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { SvcError, type Workspace } from "@svc/contract";
import { makeFolder } from "@svc/config";
import { type Opener, openerFor, type Owner } from "@svc/kit/files";
import { listFolder } from "./list-folder.ts";
import { createPathRules, type PathRuleOptions } from "./path-rules.ts";
import { readBytes } from "./read-bytes.ts";
import { removeEntry } from "./remove-entry.ts";
import { writeBytes } from "./write-bytes.ts";
import { asFileError } from "./file-error.ts";

export interface WorkspaceOptions extends PathRuleOptions {
  /** How things are opened; default: the safest this system has. */
  readonly opener?: Opener;
}

/**
 * Creates the root (0700) when it is missing; throws CONFIG_INVALID when it can't be had. Every method throws `SvcError`: PATH_OUTSIDE_WORKSPACE, PATH_FORBIDDEN,
 * TOOL_BAD_INPUT (no such file, a folder where a file is needed …) or TOOL_FAILED (the system refuses, the disk is full).
 *
 * What no path check can see: a hard link inside the workspace to a file outside it. Tools can't make one; a replaced
 * file gets a new inode, and appending to a file with several names is refused, so nothing outside is ever changed.
 */
export async function openWorkspace(root: string, options: WorkspaceOptions): Promise<Workspace> {
  const given = resolve(root);
  const real = await workspaceRoot(given);
  const opener = options.opener ?? (await openerFor(real));
  const rules = createPathRules({ given, real }, options);
  const owner = await ownerOf(real);
  return {
    root: real,
    read: (path, maxBytes, offset = 0) => readBytes(opener, rules, path, maxBytes, offset).catch(asFileError),
    write: (path, content, mode) => writeBytes({ opener, rules, owner }, path, content, mode).catch(asFileError),
    remove: (path) => removeEntry(opener, rules, path).catch(asFileError),
    list: (path, limit) => listFolder(opener, rules, path, limit).catch(asFileError),
  };
}

/** Its root alone, made when it is missing: absolute, without links. Throws CONFIG_INVALID. */
export async function workspaceRoot(root: string): Promise<string> {
  await makeFolder(root).catch(noRoot);
  return realpath(root).catch(noRoot);
}

/** What root writes into somebody else's workspace is theirs: the commands that run there are, too. */
async function ownerOf(root: string): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = await stat(root).catch(noRoot);
  return uid === 0 ? undefined : { uid, gid };
}

function noRoot(cause: unknown): never {
  throw new SvcError("CONFIG_INVALID", "The workspace can't be used: there is no such folder, and none can be made.", {
    cause,
    hint: "Set workspace.path to a folder that this user may write to, or to a new one in such a folder.",
  });
}
