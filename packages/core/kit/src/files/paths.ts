/** What can be told of a path before anything is opened. */
import { lstat, realpath } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Whether only this user and root decide what lies at `folder`: it and every folder above belong to one of the two, and no other
 * user may write them. In a sticky folder such as /tmp others may add names and can't change ours, so it passes as a folder above.
 */
export async function isPrivateFolder(folder: string): Promise<boolean> {
  const own = process.geteuid?.();
  if (own === undefined) return true; // Windows: the profile of a user is closed to others
  for (let path = await realpath(folder), last = true; ; path = dirname(path), last = false) {
    const { uid, mode } = await lstat(path);
    if (uid !== own && uid !== 0) return false;
    if ((mode & 0o022) !== 0 && (last || (mode & 0o1000) === 0)) return false;
    if (dirname(path) === path) return true;
  }
}

// Spellings by which Windows reaches another thing than the file that a path seems to name. They are refused as they are written: opening
// `\\server\share` alone sends the user's credentials to that server, and `CON` is the console in every folder.
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file

/** Why `path` is refused on Windows, as the end of a sentence; undefined: an ordinary absolute or relative path. */
export function windowsPathTrap(path: string): string | undefined {
  if (/^[\\/]{2}/.test(path)) return "is a network or device path";
  if (/^[\\/]/.test(path)) return "names no drive";
  const drive = /^[A-Za-z]:/.exec(path)?.[0] ?? "";
  const rest = path.slice(drive.length);
  if (drive !== "" && !/^[\\/]/.test(rest)) return "is relative to the current folder of a drive";
  for (const name of rest.split(/[\\/]/)) {
    const trap = name === "" || name === "." ? undefined : nameTrap(name);
    if (trap !== undefined) return trap;
  }
  return undefined;
}

function nameTrap(name: string): string | undefined {
  if (name.includes(":")) return "names an alternate data stream";
  // oxlint-disable-next-line no-control-regex -- that is what is looked for
  if (/[<>"|?*\u0000-\u001f]/.test(name)) return "has a character that no file name can have";
  if (/[. ]$/.test(name)) return "has a name that ends with a dot or a space, which Windows drops";
  if (RESERVED.test(name)) return "has a name that Windows keeps for a device";
  if (SHORT_NAME.test(name)) return "has a short name (8.3), which may stand for another file";
  return undefined;
}

/** With any extension, and with blanks before it. The raised digits count as digits. */
const RESERVED =
  /^(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)/i;
const SHORT_NAME = /^(?=[^.]{3,8}(?:\.|$))[^.~]{1,6}~[0-9]{1,6}(?:\.[^.]{0,3})?$/;

/** As NTFS compares names: letter by letter. A letter whose capital is two letters (ß) is only equal to itself. */
export function windowsCaseFold(path: string): string {
  return Array.from(path, (letter) => {
    const capital = letter.toUpperCase();
    return capital.length === letter.length ? capital : letter;
  }).join("");
}
