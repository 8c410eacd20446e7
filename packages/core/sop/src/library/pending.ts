/**
 * A change of procedures that is being written to their files. The record of it (`sops/.pending.json`) is written first, in one step,
 * and removed last. As long as it is there, every reader takes the texts of the record instead of the files: a procedure is seen as it
 * was or as it will be, never half of each, and a process that is killed in between leaves a change that the next one finishes.
 */
import { join } from "node:path";
import { SOP_NAME } from "./file-names.ts";
import { readText } from "./read-text.ts";

export const PENDING = ".pending.json";

/** Of the two files of a procedure; both undefined: there is no such procedure. */
export interface FileTexts {
  readonly toml?: string | undefined;
  readonly markdown?: string | undefined;
}

export interface Replaced {
  readonly before: FileTexts;
  readonly after: FileTexts;
}

/** By name. */
export type PendingChange = ReadonlyMap<string, Replaced>;

/** Two procedures with two texts of each of their files, in JSON. */
const MOST_BYTES = 16 * 1024 * 1024;
const NONE: PendingChange = new Map();

/** `folder`: of all procedures. A file that is no such record counts as none. Never throws. */
export async function readPending(folder: string, root: string): Promise<PendingChange> {
  const { text } = await readText(join(folder, PENDING), root, MOST_BYTES);
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
export const isInForce = ({ before, after }: Replaced, files: FileTexts): boolean =>
  (["toml", "markdown"] as const).every((file) => files[file] === before[file] || files[file] === after[file]);
