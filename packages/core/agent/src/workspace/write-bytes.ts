import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, parse, relative, sep } from "node:path";
import { type FillFile, SvcError } from "@svc/contract";
import { child, makeFolderIn, type Opened, type Opener, type Owner } from "@svc/kit/files";
import { errnoOf, needFile, needFolder, notAFile } from "./file-error.ts";
import { isInside, type PathRules } from "./path-rules.ts";

type Content = Uint8Array | FillFile;

/** Where files are written, and for whom. */
export interface WritingPlace {
  readonly opener: Opener;
  readonly rules: PathRules;
  /** Whose root's new files and folders are; undefined: whoever makes them. */
  readonly owner: Owner | undefined;
}

/**
 * `replace` writes a new file beside the old one and renames it over, so that a reader sees the old or the new content
 * and a symlink or hard link at the path is replaced, not written through. `append` extends the file itself.
 */
export async function writeBytes(
  place: WritingPlace,
  path: string,
  content: Content,
  mode: "replace" | "append",
): Promise<void> {
  const { opener, rules } = place;
  const target = rules.locate(path);
  if (target === rules.root || basename(target) === "") throw notAFile();
  if (mode === "append" && (await append(opener, rules, target, content))) return;
  for (let tries = 1; ; tries += 1) {
    try {
      return await writeNew(place, target, content, mode);
    } catch (error) {
      // Another call that made the same folder put its own in the place of ours, which was empty. Nothing is written yet.
      if (!(error instanceof FolderReplaced) || tries === MOST_TRIES) throw error;
    }
  }
}

const MOST_TRIES = 10;

class FolderReplaced extends Error {
  readonly code = "ENOENT";
}

const replacedIfGone = (error: unknown): never => {
  throw errnoOf(error) === "ENOENT" ? new FolderReplaced("The folder was replaced.", { cause: error }) : error;
};

async function writeNew(
  place: WritingPlace,
  target: string,
  content: Content,
  mode: "replace" | "append",
): Promise<void> {
  const { opener, rules } = place;
  await using folder = await folderFor(place, dirname(target)).catch(replacedIfGone);
  const owner = heirIn(folder, place);
  await rules.admit(`${folder.realPath.replace(/[/\\]$/, "")}${sep}${basename(target)}`);
  if (mode === "replace") return await replace(folder, basename(target), content, owner);
  try {
    await createWith(folder, basename(target), content, owner);
  } catch (error) {
    // Another call that begins the same file was quicker. A link that leads nowhere is no file this time either.
    if (errnoOf(error) !== "EEXIST" || !(await append(opener, rules, target, content))) throw error;
  }
}

/** What is written outside of the workspace, where the policy lets it, is nobody's heritage. */
const heirIn = ({ realPath }: Opened, { rules, owner }: WritingPlace): Owner | undefined =>
  isInside(realPath, rules.root) ? owner : undefined;

/** False when there is no file yet. */
async function append(opener: Opener, rules: PathRules, target: string, content: Content): Promise<boolean> {
  let opened: Opened;
  try {
    opened = await opener(target);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return false;
    throw error;
  }
  await using found = opened;
  await rules.admit(found.realPath);
  needFile(found.stats);
  if (found.stats.nlink > 1) {
    throw new SvcError(
      "PATH_FORBIDDEN",
      "The file has several names (hard links); one of them may be outside the workspace.",
      {
        hint: "Replace the whole file instead of appending to it.",
      },
    );
  }
  await using file = await found.reopen(constants.O_WRONLY | constants.O_APPEND);
  await writeAll(file, content);
  return true;
}

/** O_EXCL: what appears at the path meanwhile, a dangling symlink too, is never opened. */
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);

async function createWith(folder: Opened, name: string, content: Content, owner: Owner | undefined): Promise<void> {
  // Others may add to it before its first byte is written.
  await using file = await open(child(folder, name), CREATE | constants.O_APPEND, 0o666).catch(replacedIfGone);
  await folder.verify();
  if (owner) await file.chown(owner.uid, owner.gid);
  await writeAll(file, content);
}

async function replace(folder: Opened, name: string, content: Content, owner: Owner | undefined): Promise<void> {
  const before = await existing(child(folder, name));
  if (before && !before.isSymbolicLink()) needFile(before);
  const temporary = child(folder, `.svc-${randomBytes(8).toString("hex")}.tmp`);
  try {
    await using file = await open(temporary, CREATE, 0o666).catch(replacedIfGone);
    await folder.verify();
    if (owner) await file.chown(owner.uid, owner.gid);
    if (before?.isFile()) await file.chmod(before.mode & 0o777); // scripts stay executable; setuid does not survive
    await writeAll(file, content);
    await rename(temporary, child(folder, name));
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

async function writeAll(file: FileHandle, content: Content): Promise<void> {
  // `writeFile` of an open file goes on where it stands.
  if (typeof content === "function") await content((chunk) => file.writeFile(chunk));
  else await file.writeFile(content);
  await file.datasync();
}

async function existing(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Walks to the folder one name at a time, each below the folder opened before it, and creates what is missing. */
async function folderFor(place: WritingPlace, path: string): Promise<Opened> {
  const { opener, rules } = place;
  const start = isInside(path, rules.root) ? rules.root : parse(path).root;
  let folder = await opener(start);
  try {
    for (const name of relative(start, path).split(sep).filter(Boolean)) {
      const next = await enter(opener, folder, name, heirIn(folder, place));
      await folder[Symbol.asyncDispose]();
      folder = next;
      needFolder(folder.stats);
      await rules.admit(folder.realPath);
    }
    return folder;
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

async function enter(opener: Opener, folder: Opened, name: string, owner: Owner | undefined): Promise<Opened> {
  try {
    return await opener(child(folder, name));
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
  // An entry that another process put there meanwhile is judged like anything that was there before.
  await makeFolderIn(folder, name, owner);
  return opener(child(folder, name));
}
