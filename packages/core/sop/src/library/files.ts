/** The files of a procedure: read as one, as they were before a change that is being written, or as they are after it. */
import { basename, dirname, join, sep } from "node:path";
import type { Problem } from "@svc/config";
import type { SopFiles } from "./definition.ts";
import { SOP_MD, SOP_NAME, SOP_TOML } from "./types.ts";
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, realpath, stat } from "node:fs/promises";
import type { Clock } from "@svc/contract";

/** Of each file. */
export const MOST_BYTES = 256 * 1024;
/** At files that somebody changes each time they are read. */
const MOST_LOOKS = 100;

export interface ReadFiles {
  /** Undefined where there are problems, and where there is no SOP.toml. */
  readonly files: SopFiles | undefined;
  readonly problems: readonly Problem[];
  readonly isMissing?: true;
  /** Those that could be read. */
  readonly texts: FileTexts;
}

/** `root`: real path of the workspace. Never throws. */
export async function readFiles(folder: string, root: string): Promise<ReadFiles> {
  let before = await stampsOf(folder);
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const read = await readTexts(folder, root, before.isChanging);
    const after = await stampsOf(folder);
    if (after.text === before.text) return filesOf(folder, read);
    before = after;
  }
  const problem = problemOf(join(folder, SOP_TOML), "or SOP.md changes each time it is read");
  return { files: undefined, problems: [problem], texts: {} };
}

interface Stamps {
  /** The same as long as the files are, and the record of a change. */
  readonly text: string;
  /** There is such a record. */
  readonly isChanging: boolean;
}

async function stampsOf(folder: string): Promise<Stamps> {
  const [files, record] = await Promise.all([stampOf(folder), fileStamp(join(dirname(folder), PENDING))]);
  return { text: `${files.text} ${record}`, isChanging: record !== "ENOENT" };
}

interface ReadTexts extends FileTexts {
  readonly problems: readonly Problem[];
}

async function readTexts(folder: string, root: string, isChanging: boolean): Promise<ReadTexts> {
  const [pending, toml, markdown] = await Promise.all([
    isChanging ? readPending(dirname(folder), root) : undefined,
    readText(join(folder, SOP_TOML), root, MOST_BYTES),
    readText(join(folder, SOP_MD), root, MOST_BYTES),
  ]);
  const problems = [toml, markdown].flatMap((read) => (read.problem ? [read.problem] : []));
  const texts: FileTexts = { toml: toml.text, markdown: markdown.text };
  const change = pending?.get(basename(folder));
  return change && problems.length === 0 && isInForce(change, texts)
    ? { ...change.after, problems }
    : { ...texts, problems };
}

function filesOf(folder: string, { problems, ...texts }: ReadTexts): ReadFiles {
  const { toml, markdown } = texts;
  if (problems.length > 0) return { files: undefined, problems, texts };
  if (toml !== undefined) return { files: { folder, toml, markdown }, problems, texts };
  // A folder with neither is no procedure yet, or none any more.
  if (markdown === undefined) return { files: undefined, problems: [], texts };
  const missing = problemOf(join(folder, SOP_TOML), "does not exist");
  return { files: undefined, problems: [missing], isMissing: true, texts };
}

/** Whether a procedure's files have changed, without reading them. */
export interface Stamp {
  /** The same as long as the files are. */
  readonly text: string;
  /** When each of them was written, in milliseconds since the epoch. */
  readonly writtenMs: readonly number[];
}

/** Never throws. */
async function stampOf(folder: string): Promise<Stamp> {
  const stats = await Promise.all([SOP_TOML, SOP_MD].map((name) => statsOf(join(folder, name))));
  const writtenMs = stats.flatMap((one) => (typeof one === "string" ? [] : [Number(one.mtimeMs)]));
  return { text: stats.map(textOf).join(" "), writtenMs };
}

/** Of one file; never throws. */
export const fileStamp = async (file: string): Promise<string> => textOf(await statsOf(file));

async function statsOf(file: string): Promise<BigIntStats | string> {
  try {
    return await stat(file, { bigint: true });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  }
}

/** The change time too: some programs set the time of writing back. */
const textOf = (stats: BigIntStats | string): string =>
  typeof stats === "string" ? stats : [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(":");

// A text file: bounded, as UTF-8, and only what really lies in the workspace.

interface ReadText {
  readonly text?: string;
  readonly problem?: Problem;
}

/** `root`: real path of the folder that the file must lie in. Never throws. */
async function readText(file: string, root: string, mostBytes: number): Promise<ReadText> {
  let handle: FileHandle | undefined;
  try {
    // To wait for the writer of a FIFO would be for ever.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) return { problem: problemOf(file, "is no file") };
    if (!(await liesIn(file, root, stats)))
      return { problem: problemOf(file, "is a link that leads out of the workspace") };
    // One byte more than it has: what is written to it meanwhile is read the next time.
    const bytes = await readUpTo(handle, Math.min(Number(stats.size), mostBytes) + 1);
    if (bytes.length > mostBytes) return { problem: problemOf(file, "is larger than 256 kB") };
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    return faultOf(file, error);
  } finally {
    await handle?.close();
  }
}

/**
 * What was opened must be what lies at the real path: a link that leads elsewhere for the moment of the opening is found
 * out by its inode.
 */
async function liesIn(
  file: string,
  root: string,
  opened: { readonly dev: bigint; readonly ino: bigint },
): Promise<boolean> {
  const real = await realpath(file);
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) return false;
  const there = await stat(real, { bigint: true });
  return there.dev === opened.dev && there.ino === opened.ino;
}

async function readUpTo(handle: FileHandle, most: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(most);
  let length = 0;
  while (length < most) {
    const { bytesRead } = await handle.read(bytes, length, most - length);
    const isEnd = bytesRead < most - length;
    length += bytesRead;
    if (isEnd) break;
  }
  return bytes.subarray(0, length);
}

function faultOf(file: string, error: unknown): ReadText {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return {};
  if (error instanceof TypeError) return { problem: problemOf(file, "is not UTF-8 text") };
  if (code === "ELOOP") return { problem: problemOf(file, "is a link that leads nowhere") };
  return { problem: problemOf(file, code === "EACCES" ? "may not be read by this user" : "can't be read") };
}

export const problemOf = (file: string, message: string): Problem => ({ code: "SOP_INVALID", file, key: "", message });

/** Files that somebody may be writing are read again until they have been left alone for a moment. */
export const SETTLE_MS = 100;
/** Of a file that is written on and on. */
const MOST_SETTLING_LOOKS = 20;

/** Undefined: not even now; what was read before stays. */
export async function settledStamp(folder: string, clock: Clock): Promise<Stamp | undefined> {
  for (let look = 0; look < MOST_SETTLING_LOOKS; look += 1) {
    const stamp = await stampOf(folder);
    const nowMs = clock.now();
    // A time far in the future is another machine's, or wrong.
    if (!stamp.writtenMs.some((ms) => Math.abs(nowMs - ms) < SETTLE_MS)) return stamp;
    await clock.sleep(SETTLE_MS);
  }
  return undefined;
}

// The record of a change.

/**
 * A change of procedures that is being written to their files. The record of it (`sops/.pending.json`) is written first, in one step, and
 * removed last. As long as it is there, every reader takes the texts of the record instead of the files: a procedure is seen as it was or
 * as it will be, never half of each, and a process that is killed in between leaves a change that the next one finishes.
 */
export const PENDING = ".pending.json";

/** Of the two files of a procedure; both undefined: there is no such procedure. */
export interface FileTexts {
  readonly toml?: string | undefined;
  readonly markdown?: string | undefined;
}

interface Replaced {
  readonly before: FileTexts;
  readonly after: FileTexts;
}

/** By name. */
export type PendingChange = ReadonlyMap<string, Replaced>;

/** Two procedures with two texts of each of their files, in JSON. */
const MOST_RECORD_BYTES = 16 * 1024 * 1024;
const NONE: PendingChange = new Map();

/** `folder`: of all procedures. A file that is no such record counts as none. Never throws. */
export async function readPending(folder: string, root: string): Promise<PendingChange> {
  const { text } = await readText(join(folder, PENDING), root, MOST_RECORD_BYTES);
  return text === undefined ? NONE : parsed(text);
}

export const pendingText = (change: PendingChange): string =>
  `${JSON.stringify({ version: 1, procedures: Object.fromEntries(change) })}\n`;

function parsed(text: string): PendingChange {
  try {
    const { version, procedures } = JSON.parse(text) as { version: unknown; procedures: Record<string, Replaced> };
    const entries = Object.entries(procedures);
    const isWhole = version === 1 && entries.every(([name, one]) => SOP_NAME.test(name) && isReplaced(one));
    return isWhole ? new Map(entries) : NONE;
  } catch {
    return NONE;
  }
}

const isReplaced = ({ before, after }: Replaced): boolean =>
  [before.toml, before.markdown, after.toml, after.markdown].every((text) =>
    ["string", "undefined"].includes(typeof text),
  );

/** False: somebody else has written a file since, in an editor, and the change gives way to that. */
const isInForce = ({ before, after }: Replaced, files: FileTexts): boolean =>
  (["toml", "markdown"] as const).every((file) => files[file] === before[file] || files[file] === after[file]);
