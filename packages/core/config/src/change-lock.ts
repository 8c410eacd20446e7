/**
 * One change of config and key at a time, over all processes of a home: what one seals another must not lose by writing
 * what it read before, or by rotating the key away. The lock is SQLite's own file lock on an empty database, which the
 * system drops with the process, so even SIGKILL leaves nothing that stops the next one.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Clock, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { removeDrafts } from "./exclusive-file.ts";
import type { Home } from "./home.ts";

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
  const isFull =
    codeOf(cause) === SQLITE_FULL || ["ENOSPC", "EDQUOT"].includes((cause as NodeJS.ErrnoException).code ?? "");
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
