/** Files of a home: each comes into being whole or not at all. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { SvcError } from "@svc/contract";
import { mkdir, stat } from "node:fs/promises";

/** What a file system answers that has no hard links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EACCES"]);

/**
 * Creates `file` with mode 0600. False when there is one already (a symbolic link too), which stays as it is. A
 * process killed at any instant leaves the whole file or none: half a key could never be fixed.
 */
export function createExclusively(file: string, text: string): boolean {
  return throughDraft(file, (draft) => {
    try {
      writeNew(draft, text);
      linkSync(draft, file);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") return false;
      if (!NO_LINKS.has(code)) throw error;
      return createInPlace(file, text);
    }
    // The second name of a key goes before the key is used.
    rmSync(draft, { force: true });
    syncDirectory(dirname(file));
    return true;
  });
}

/**
 * Writes `file` with mode 0600 in one step, whatever was there. `check` is called with the descriptor of the draft when nothing is
 * left but to put it in place; when it throws, nothing is changed. `check` gets no path: the owner of the folder may have put a link
 * there.
 */
export function replaceFile(file: string, text: string, check?: (draft: number) => void): void {
  throughDraft(file, (draft) => {
    writeNew(draft, text, check);
    renameSync(draft, file);
    syncDirectory(dirname(file));
  });
}

/**
 * Removes the drafts that killed processes left in `folder`, or those of one file in it: a draft can hold a key. A process
 * that still writes one makes it anew.
 */
export function removeDrafts(folder: string, file?: string): void {
  const isDraft = (name: string): boolean => DRAFT.test(name) && (file === undefined || name.startsWith(`${file}.`));
  try {
    for (const name of readdirSync(folder)) if (isDraft(name)) rmSync(join(folder, name), { force: true });
  } catch {
    // A folder that can't be read or written: the write that follows says so.
  }
}

const DRAFT = /\.[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.tmp$/;
/** Each try needs another process that removes drafts in the same instant. */
const TRIES = 5;

/** `place` makes the draft. A disk that is full takes the name and half the text; it may be half a secret. */
function throughDraft<T>(file: string, place: (draft: string) => T): T {
  removeDrafts(dirname(file), basename(file));
  for (let tries = 1; ; tries += 1) {
    const draft = `${file}.${crypto.randomUUID()}.tmp`;
    try {
      return place(draft);
    } catch (error) {
      const isRemoved = (error as NodeJS.ErrnoException).code === "ENOENT" && existsSync(dirname(draft));
      if (!isRemoved || tries === TRIES) throw error;
    } finally {
      rmSync(draft, { force: true });
    }
  }
}

/** On disk when it returns. */
function writeNew(file: string, text: string, check?: (file: number) => void): void {
  const handle = openSync(file, "wx", 0o600);
  try {
    writeFileSync(handle, text);
    check?.(handle);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function createInPlace(file: string, text: string): boolean {
  try {
    writeNew(file, text);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Or the name could be lost with the power. Windows has no such thing as opening a directory. */
export function syncDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(directory, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** A home that can't be written: said in words, with what can be done about it. */
export function homeUnwritable(root: string, cause: unknown): SvcError {
  const isFull = isDiskFull(cause);
  return new SvcError("HOME_UNWRITABLE", `${root} can't be written${isFull ? ": the disk is full" : ""}.`, {
    hint: `${isFull ? "Free some space" : "Make it writable for this user"}, or name another with SVC_HOME.`,
    cause,
  });
}

export const isDiskFull = (cause: unknown): boolean =>
  ["ENOSPC", "EDQUOT"].includes((cause as NodeJS.ErrnoException | undefined)?.code ?? "");

// Folders. Not by `recursive: true`: where a file system says of a folder below one that is
// there that it can't be (ENOENT, as /proc does), that tries again for ever, with a whole core.

/** A folder and those above it, of this user alone (0700). Resolves when it is there; rejects with what the system says. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    await make(path);
  }
}

async function make(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    // What the system says of a folder that is there differs: EEXIST, of a drive EPERM, of one that can't be written EROFS.
    if (!(await isFolder(path))) throw error;
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
