/** Files that come into being whole or not at all. */
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** What a file system answers that has no hard links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EACCES"]);

/**
 * Creates `file` with mode 0600. False when there is one already (a symbolic link too), which stays as it is. A
 * process killed at any instant leaves the whole file or none: half a key could never be mended.
 */
export function createExclusively(file: string, text: string): boolean {
  const draft = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    writeNew(draft, text);
    linkSync(draft, file);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!NO_LINKS.has(code)) throw error;
    return createInPlace(file, text);
  } finally {
    rmSync(draft, { force: true });
  }
  syncDirectory(dirname(file));
  return true;
}

/**
 * Writes `file` with mode 0600 in one step, whatever was there. `check` is called with the descriptor of the draft when nothing is
 * left but to put it in place; when it throws, nothing is changed. Its path is not for `check`: whoever owns the folder may have put
 * a link there.
 */
export function replaceFile(file: string, text: string, check?: (draft: number) => void): void {
  const draft = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    writeNew(draft, text, check);
    renameSync(draft, file);
  } catch (error) {
    // A disk that is full takes the name and half the text; it may be half a secret.
    rmSync(draft, { force: true });
    throw error;
  }
  syncDirectory(dirname(file));
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
