/**
 * Puts restored files in the places of those that are there, which are kept aside. A journal on disk says that it began: a
 * process killed at any instant leaves the old home, or a journal by which the next start finishes the new one.
 *
 *   restore-<time>/         the restored files, checked, named as in the home
 *   restore.json            from here on the restored files count
 *   before-restore-<time>/  what was there
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { SvcError } from "@svc/contract";
import { replaceFile, syncDirectory } from "@svc/config";
import * as v from "valibot";
import { CONFIG, DATABASE, FEATURE_DATABASES, KEY, NEXT_KEY, WORKSPACE } from "./manifest.ts";

/** In order. What is `with` a file belongs to the old one, and must not be found beside the new one. */
const ITEMS: readonly { readonly path: string; readonly with?: readonly string[] }[] = [
  { path: KEY, with: [NEXT_KEY] },
  { path: NEXT_KEY },
  { path: CONFIG },
  // Features find in the database what they need to open their own: those of the old one open with the old one alone.
  { path: DATABASE, with: [`${DATABASE}-wal`, `${DATABASE}-shm`, FEATURE_DATABASES] },
  { path: FEATURE_DATABASES },
  { path: WORKSPACE },
];

const FOLDER = /^restore-[0-9A-Za-z-]{1,64}$/;

export const isRestoreFolder = (name: string): boolean => FOLDER.test(name);
export const journalFile = (root: string): string => join(root, "restore.json");
export const keptFolder = (folder: string): string => `before-${folder}`;

/** Nothing may have the home open, and its lock must be held. Throws HOME_UNWRITABLE; everything is in its old place then. */
export function swapIn(root: string, folder: string): void {
  const done: Rename[] = [];
  replaceFile(journalFile(root), JSON.stringify({ format: 1, folder }));
  try {
    for (const step of swapSteps(root, folder)) {
      done.push(step);
      take(step);
    }
  } catch (cause) {
    for (const { from, to } of done.toReversed()) if (!isThere(from)) take({ from: to, to: from });
    endJournal(root);
    throw new SvcError("HOME_UNWRITABLE", "The restored files could not be put in place; the old ones are in force.", {
      cause,
      hint: "The home and all in it must be on one disk, and writable for this user.",
    });
  }
  end(root, folder);
}

/** Does what an interrupted restore left to do. Only with the home's lock. Throws HOME_UNWRITABLE. */
export function finishSwap(root: string): void {
  const folder = readJournal(root);
  if (folder === undefined) return;
  try {
    for (const step of swapSteps(root, folder)) take(step);
    end(root, folder);
  } catch (cause) {
    throw new SvcError("HOME_UNWRITABLE", "A restore was interrupted, and can't be finished.", {
      cause,
      hint: `Make ${root} and all in it writable for this user.`,
    });
  }
}

export interface Rename {
  readonly from: string;
  readonly to: string;
}

/** One step after the other, each to be taken before the next is asked for. Begun anew after any of them, it goes on there. */
export function* swapSteps(root: string, folder: string): Generator<Rename> {
  for (const item of ITEMS) {
    const restored = join(root, folder, item.path);
    if (!isThere(restored)) continue;
    for (const path of [...(item.with ?? []), item.path]) {
      const old = join(root, path);
      if (isThere(old)) yield { from: old, to: free(join(root, keptFolder(folder), path)) };
    }
    yield { from: restored, to: join(root, item.path) };
  }
}

/** On disk when it returns, so that no later step is there without it. */
export function take({ from, to }: Rename): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  renameSync(from, to);
  syncDirectory(dirname(to));
  syncDirectory(dirname(from));
}

/** A start by an older svc in the middle of a restore may have made a file anew: that is kept beside the old one. */
function free(path: string): string {
  let name = path;
  for (let n = 2; isThere(name); n += 1) name = `${path}.${n}`;
  return name;
}

/** Of a link itself, not of what it leads to. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

function end(root: string, folder: string): void {
  endJournal(root);
  rmSync(join(root, folder), { recursive: true, force: true });
}

function endJournal(root: string): void {
  rmSync(journalFile(root));
  syncDirectory(root);
}

const journal = v.object({ format: v.literal(1), folder: v.pipe(v.string(), v.regex(FOLDER)) });

function readJournal(root: string): string | undefined {
  if (!existsSync(journalFile(root))) return undefined;
  try {
    return v.parse(journal, JSON.parse(readFileSync(journalFile(root), "utf8"))).folder;
  } catch (cause) {
    throw new SvcError("HOME_UNWRITABLE", `${journalFile(root)} can't be read.`, {
      cause,
      hint: "A restore was interrupted. Run it again by the svc that began it, or move this file away.",
    });
  }
}
