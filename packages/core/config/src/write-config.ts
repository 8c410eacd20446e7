/** Puts an edited config in place: whole or not at all, and never over what somebody else wrote meanwhile. */
import { accessSync, constants, fchmodSync, fchownSync, realpathSync, type Stats, statSync } from "node:fs";
import { SvcError } from "@svc/contract";
import { replaceFile } from "./exclusive-file.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";

/** `before`: the file as it was read. Throws CONFIG_CHANGED when it is another by now, and CONFIG_UNWRITABLE. */
export function writeConfigFile(file: string, before: ConfigFile, text: string): void {
  assertWritable(file);
  try {
    // A symbolic link, into a folder under version control say, stays one.
    const target = realpathSync(file);
    const was = statSync(target);
    replaceFile(target, before.mark + text, (draft) => {
      keepAccess(draft, was);
      const now = readConfigFile(target);
      if (now.text !== before.text || now.mark !== before.mark) throw changed(file);
    });
  } catch (error) {
    throw error instanceof SvcError ? error : unwritable(file, error);
  }
}

/** Throws CONFIG_UNWRITABLE for what `writeConfigFile` would refuse as things are. A rename would not ask the file. */
export function assertWritable(file: string): void {
  try {
    const target = realpathSync(file);
    if (!statSync(target).isFile()) throw unwritable(file, undefined, "it is no regular file");
    accessSync(target, constants.W_OK);
  } catch (error) {
    throw error instanceof SvcError ? error : unwritable(file, error);
  }
}

/**
 * What may be read by this user alone stays so, and what others may read is closed to them: it may hold a secret. But the
 * superuser must not lock a service out of its config, which it reads as the file's owner or by the file's group.
 */
function keepAccess(draft: number, was: Stats): void {
  if (process.platform === "win32") return;
  const isOthers = was.uid !== process.geteuid?.() || was.gid !== process.getegid?.();
  const groupReads = isOthers && process.geteuid?.() === 0 ? was.mode & 0o040 : 0;
  if (was.uid !== process.geteuid?.() || groupReads !== 0) fchownSync(draft, was.uid, was.gid);
  fchmodSync(draft, was.mode & (0o600 | groupReads));
}

const changed = (file: string): SvcError =>
  new SvcError("CONFIG_CHANGED", `Someone else changed ${file} at the same time; their change was kept.`, {
    hint: "Run the command again.",
  });

function unwritable(file: string, cause: unknown, why?: string): SvcError {
  const { code = "" } = (cause ?? {}) as NodeJS.ErrnoException;
  const reason = why ?? REASONS[code] ?? "it can't be replaced";
  return new SvcError("CONFIG_UNWRITABLE", `${file} can't be written: ${reason}.`, {
    hint: NO_SPACE.has(code)
      ? "Free some space, and run the command again."
      : "Make the file and its folder writable for this user, or edit it by hand.",
    cause,
  });
}

const NO_SPACE: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES: "this user may not write it, or its folder",
  EPERM: "this user may not replace it",
  EROFS: "the file system is read-only",
  EBUSY: "it is mounted as a single file; mount its folder instead",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
};
