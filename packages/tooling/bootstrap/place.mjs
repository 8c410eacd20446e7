// Installs a binary under a prefix: whole or not at all, also when a daemon runs the old one.
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { BootstrapError } from "./progress.mjs";

/**
 * @param {string} binary
 * @param {string} target absolute path of the file to be
 * @throws {BootstrapError} 73 when it cannot be created there
 */
export function placeBinary(binary, target) {
  const folder = dirname(target);
  const draft = `${target}.new-${process.pid}`;
  try {
    mkdirSync(folder, { recursive: true });
    if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory())
      throw new Error("there is a directory of that name");
    // Written beside it and renamed: writing over a running program fails (ETXTBSY), and a copy that is cut short must
    // not be what the next start finds.
    copyFileSync(binary, draft);
    chmodSync(draft, 0o755);
    const file = openSync(draft, "r+"); // Windows flushes no file that was opened for reading
    fsyncSync(file);
    closeSync(file);
    if (process.platform === "win32") moveAside(target);
    renameSync(draft, target);
  } catch (error) {
    discard(draft);
    const reason = error instanceof Error ? error.message : String(error);
    throw new BootstrapError(`${target} can't be installed: ${reason}.\nChoose a --prefix that you may write to.`, 73);
  }
}

/** Windows replaces no program that runs, but lets it be renamed. What the install before this one left is removed. @param {string} target */
function moveAside(target) {
  const old = `${target}.old`;
  discard(old);
  if (existsSync(target)) renameSync(target, existsSync(old) ? `${old}-${process.pid}` : old);
}

/** @param {string} draft */
function discard(draft) {
  try {
    rmSync(draft, { force: true });
  } catch {
    // its folder is what could not be made; the first reason is the one to tell
  }
}
