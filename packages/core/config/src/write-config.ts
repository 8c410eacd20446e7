/** Puts an edited config in place: whole or not at all, and never over what somebody else wrote meanwhile. */
import { type Stats, accessSync, constants, fchmodSync, fchownSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { type Clock, SvcError } from "@svc/contract";
import { isDiskFull, removeDrafts, replaceFile } from "./home-files.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import { join } from "node:path";
import { systemClock } from "@svc/kit/system-clock";
import type { Home } from "./home.ts";

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
    hint: isDiskFull(cause)
      ? "Free some space, and run the command again."
      : "Make the file and its folder writable for this user, or edit it by hand.",
    cause,
  });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES: "this user may not write it, or its folder",
  EPERM: "this user may not replace it",
  EROFS: "the file system is read-only",
  EBUSY: "it is mounted as a single file; mount its folder instead",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
};

// The change lock.

/**
 * One change of config and key at a time, over all processes of a home: what one seals another must not lose by writing what it read
 * before, or by rotating the key away. The lock is SQLite's own file lock on an empty database, which the system drops with the process, so
 * even SIGKILL leaves nothing that stops the next one.
 */
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const RETRY_MS = 10;
/** A change takes some milliseconds, a rotation of a large vault some seconds. */
const LONGEST_MS = 15_000;

/**
 * Also removes what a killed change left. Throws CONFIG_UNWRITABLE when others change the config all the time, or the lock
 * can't be had at all.
 */
export async function withChangeLock<T>(
  home: Pick<Home, "root" | "runDir">,
  change: () => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const release = await acquire(home, clock);
  try {
    removeDrafts(home.root);
    return await change();
  } finally {
    release();
  }
}

async function acquire({ runDir }: Pick<Home, "runDir">, clock: Clock): Promise<() => void> {
  const { DatabaseSync } = await import("node:sqlite");
  for (const startMs = clock.monotonic(); ;) {
    let db: InstanceType<typeof DatabaseSync> | undefined;
    try {
      mkdirSync(runDir, { recursive: true, mode: 0o700 });
      db = new DatabaseSync(join(runDir, "config.lock"), { timeout: 0 });
      const opened = db;
      opened.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;");
      return () => opened.close();
    } catch (cause) {
      db?.close();
      const isBusy = codeOf(cause) === SQLITE_BUSY;
      if (!isBusy || clock.monotonic() - startMs > LONGEST_MS) throw unavailable(runDir, isBusy, cause);
    }
    await clock.sleep(RETRY_MS);
  }
}

/** SQLite's primary code. */
const codeOf = (cause: unknown): number => ((cause as { errcode?: number }).errcode ?? 0) % 256;

function unavailable(runDir: string, isBusy: boolean, cause: unknown): SvcError {
  if (isBusy) {
    return new SvcError("CONFIG_UNWRITABLE", "Another svc command is changing the config all the time.", {
      hint: "Wait for it, or end it, and run this again.",
      cause,
    });
  }
  const isFull = codeOf(cause) === SQLITE_FULL || isDiskFull(cause);
  return new SvcError(
    "CONFIG_UNWRITABLE",
    `${runDir} can't be written: ${isFull ? "the disk is full" : "the config can't be locked"}.`,
    {
      hint: isFull
        ? "Free some space, and try again."
        : "Make it writable for this user, or name another home with SVC_HOME.",
      cause,
    },
  );
}
