/**
 * The binary that runs, and how another one takes its place. Everything happens in one hidden folder beside it, on the same file
 * system, so that each step is one rename: a process killed at any instant leaves a whole binary under the old name.
 *
 *   svc                  in force
 *   .svc-update/lock     one update at a time
 *   .svc-update/new      the download
 *   .svc-update/previous the binary before the last update
 */
import { execFile } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isSea } from "node:sea";
import { promisify } from "node:util";
import { syncDirectory } from "@svc/config";
import { SvcError } from "@svc/contract";
import { lockHome } from "@svc/store";

const run = promisify(execFile);

/** Lies beside a binary that a package manager keeps, and holds the command that updates it. */
const MANAGED_FILE = "svc.managed-by";
/** A start takes a tenth of a second. */
const LONGEST_START_MS = 60_000;

/** What `svc --version --json` prints. */
export interface About {
  readonly version: string;
  readonly commit: string;
  readonly target: string;
  /** The database schema that it writes, and the newest that it reads. */
  readonly schema_version: number;
}

export interface InstalledBinary {
  readonly file: string;
  readonly previous: string;
  /** Where a download goes; whatever an update that was killed left there is gone. */
  readonly staged: string;
  /** A swap that was killed between its two renames has been finished. */
  readonly resumed: boolean;
  /** Puts `staged` into force and keeps the one before as `previous`. */
  install(): void;
  /** `previous` and the one in force change places. */
  swap(): void;
  /** Removes the download and lets others update. */
  [Symbol.dispose](): void;
}

/** Throws UPDATE_UNAVAILABLE from the sources, UPDATE_MANAGED for a package's file. */
export function binaryFile(): string {
  if (!isSea()) {
    throw new SvcError("UPDATE_UNAVAILABLE", "svc runs from its sources, so there is no binary to replace.", {
      hint: "Update the sources, and build again.",
    });
  }
  const file = process.execPath;
  const marker = join(dirname(file), MANAGED_FILE);
  if (!existsSync(marker)) return file;
  const command = readFileSync(marker, "utf8").trim();
  throw new SvcError("UPDATE_MANAGED", undefined, { hint: `Use: ${command}` });
}

/** Throws UPDATE_FAILED when the folder can't be written, ALREADY_RUNNING when another update is under way. */
export function lockBinary(file: string): InstalledBinary {
  const folder = join(dirname(file), `.${basename(file)}-update`);
  const [previous, staged, spare] = ["previous", "new", "spare"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const unlock = failing(file, () => {
    refuseForeignFolder(file);
    accessSync(dirname(file), constants.W_OK);
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    return lockUpdates(join(folder, "lock"));
  });
  const clean = (): void => [staged, spare].forEach((each) => rmSync(each, { force: true }));
  /** Another name for the same file, or its copy where there are no links. */
  const link = (from: string, to: string): void => {
    rmSync(to, { force: true });
    try {
      linkSync(from, to);
    } catch {
      copyFileSync(from, to);
      copyMode(from, to);
    }
  };
  const resumed = failing(file, () => {
    const areThere = existsSync(spare) && existsSync(previous);
    const isHalfSwapped = areThere && isSameFile(file, previous) && !isSameFile(file, spare);
    if (isHalfSwapped) renameSync(spare, previous);
    clean();
    return isHalfSwapped;
  });
  return {
    file,
    previous,
    staged,
    resumed,
    install: () =>
      failing(file, () => {
        copyMode(file, staged);
        link(file, spare);
        renameSync(spare, previous);
        syncDirectory(folder);
        renameSync(staged, file);
        syncDirectory(dirname(file));
      }),
    swap: () =>
      failing(file, () => {
        link(file, spare);
        link(previous, staged);
        renameSync(staged, file);
        syncDirectory(dirname(file));
        renameSync(spare, previous);
        syncDirectory(folder);
      }),
    [Symbol.dispose]: () => {
      clean();
      unlock();
    },
  };
}

function lockUpdates(file: string): () => void {
  try {
    return lockHome(file);
  } catch (cause) {
    if (!(cause instanceof SvcError) || cause.code !== "ALREADY_RUNNING") throw cause;
    throw new SvcError("ALREADY_RUNNING", "Another update of this binary is under way.", {
      hint: "Wait for it.",
      cause,
    });
  }
}

/** By its number: after an interrupted swap the two names lead to one file, where the disk has links. */
function isSameFile(one: string, other: string): boolean {
  const [a, b] = [statSync(one), statSync(other)];
  return a.ino === b.ino && a.dev === b.dev;
}

const copyMode = (from: string, to: string): void => chmodSync(to, statSync(from).mode & 0o777);

/** As root, an update would follow links of the folder's owner, and make the binary root's. */
function refuseForeignFolder(file: string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (statSync(file).uid === user && [user, 0].includes(statSync(dirname(file)).uid)) return;
  throw new SvcError("UPDATE_FAILED", `${file} belongs to another user; it is as it was.`, {
    hint: "Run it as the user who installed svc.",
  });
}

function failing<T>(file: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw diskError(file, error);
  }
}

/** What the system said of the folder, as an error of ours. */
export function diskError(file: string, error: unknown): unknown {
  if (error instanceof SvcError) return error;
  const { code = "" } = error as NodeJS.ErrnoException;
  if (["ENOSPC", "EDQUOT"].includes(code)) {
    return new SvcError("STORE_FULL", `There is no room for the new binary in ${dirname(file)}. Nothing was changed.`, {
      hint: "Free about 300 MB, and try again.",
      cause: error,
    });
  }
  if (!/^E[A-Z]+$/.test(code)) return error;
  return new SvcError("UPDATE_FAILED", `${dirname(file)} can't be written (${code}); ${file} is as it was.`, {
    hint: ["EACCES", "EPERM"].includes(code)
      ? "Run it as the user who installed svc."
      : "Is the disk there, and can it be written?",
    cause: error,
  });
}

/** Starts `file` with nothing in its environment. Undefined: it does not start here, or is older than this question. */
export async function aboutBinary(file: string): Promise<About | undefined> {
  try {
    const { stdout } = await run(file, ["--version", "--json"], { env: {}, timeout: LONGEST_START_MS });
    const about = JSON.parse(stdout) as About;
    return typeof about.version === "string" && Number.isInteger(about.schema_version) ? about : undefined;
  } catch {
    return undefined;
  }
}
