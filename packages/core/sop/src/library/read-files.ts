/** Reads both files of a procedure as one: as they were before a change that is being written, or as they are after it. */
import { basename, dirname, join } from "node:path";
import type { Problem } from "@svc/config";
import type { SopFiles } from "./definition.ts";
import { SOP_MD, SOP_TOML } from "./file-names.ts";
import { type FileTexts, isInForce, PENDING, readPending } from "./pending.ts";
import { problemOf, readText } from "./read-text.ts";
import { fileStamp, stampOf } from "./stamp.ts";

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
