/** Writes a change of procedures to their files: all of it or nothing, also when the process is killed in the middle. */
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { SvcError, type Workspace } from "@svc/contract";
import { SOP_MD, SOP_TOML } from "../library/types.ts";
import { PENDING, type PendingChange, pendingText, readFiles, readPending } from "../library/files.ts";

/** By paths below the workspace. */
type Files = Pick<Workspace, "write" | "remove">;

const RECORD = join("sops", PENDING);

export interface CommitSteps {
  /** The last thing that can refuse the change. */
  readonly accept: () => Promise<void>;
  /** Frees space that only the change needed: on a full disk the files could not be written back otherwise. */
  readonly release: () => void;
}

/**
 * `folder`: of all procedures. Rejects with SOP_UNWRITABLE, and as `accept` and the workspace do; then nothing is changed.
 */
export async function commit(
  files: Files,
  folder: string,
  change: PendingChange,
  { accept, release }: CommitSteps,
): Promise<void> {
  await assertWritable(folder, change);
  await set(files, RECORD, pendingText(change)).catch(async (error: unknown) => {
    await files.remove(RECORD).catch(() => undefined);
    throw error;
  });
  const done: FileChange[] = [];
  try {
    for (const one of fileChanges(change)) {
      await set(files, one.path, one.after);
      done.unshift(one);
    }
    await accept();
  } catch (error) {
    release();
    try {
      for (const { path, before } of done) await set(files, path, before);
      await removeEmpty(files, change, "before");
      await files.remove(RECORD);
    } catch {
      // What can't be taken back either is in force by its record, and `finishPending` writes it later.
      return await accept();
    }
    throw error;
  }
  await removeEmpty(files, change, "after");
  // A record that stays says what the files say.
  await files.remove(RECORD).catch(() => undefined);
}

/**
 * Finishes what a killed process began. `folder`: of all procedures; `root`: real path of the workspace. Rejects as the workspace does;
 * then the record stays in force.
 */
export async function finishPending(files: Files, folder: string, root: string): Promise<void> {
  const pending = await readPending(folder, root);
  const read = await Promise.all([...pending.keys()].map((name) => readFiles(join(folder, name), root)));
  const ours = [...pending].filter(([, { after }], index) => {
    const { toml, markdown } = read[index]!.texts;
    return toml === after.toml && markdown === after.markdown;
  });
  for (const { path, after } of fileChanges(new Map(ours))) await set(files, path, after);
  await removeEmpty(files, pending, "after");
  await files.remove(RECORD);
}

interface FileChange {
  readonly path: string;
  /** Undefined: there is no such file. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** In an order that starts nothing too early for a reader who does not know the record: SOP.toml comes last and goes first. */
const fileChanges = (change: PendingChange): FileChange[] =>
  [...change].flatMap(([name, { before, after }]) => {
    const toml = { path: join("sops", name, SOP_TOML), before: before.toml, after: after.toml };
    const markdown = { path: join("sops", name, SOP_MD), before: before.markdown, after: after.markdown };
    const ordered = after.toml === undefined ? [toml, markdown] : [markdown, toml];
    return ordered.filter((one) => one.before !== one.after);
  });

async function set(files: Files, path: string, text: string | undefined): Promise<void> {
  if (text === undefined) await files.remove(path);
  else await files.write(path, new TextEncoder().encode(text), "replace");
}

/** Other files in a folder keep it. */
async function removeEmpty(files: Files, change: PendingChange, to: "before" | "after"): Promise<void> {
  for (const [name, replaced] of change) {
    const { toml, markdown } = replaced[to];
    if (toml === undefined && markdown === undefined) await files.remove(join("sops", name)).catch(() => undefined);
  }
}

/** A new file is renamed over the old one, which would not ask the old one. Throws SOP_UNWRITABLE. */
async function assertWritable(folder: string, change: PendingChange): Promise<void> {
  for (const [name, { before }] of change) {
    for (const [file, text] of [
      [SOP_TOML, before.toml],
      [SOP_MD, before.markdown],
    ] as const) {
      if (text === undefined) continue;
      await access(join(folder, name, file), constants.W_OK).catch(({ code }: NodeJS.ErrnoException) => {
        if (!READ_ONLY.has(code ?? "")) return;
        throw new SvcError("SOP_UNWRITABLE", `${file} is read-only; nothing was changed.`, {
          hint: MAKE_WRITABLE,
        });
      });
    }
  }
}

/** `cause`: what `commit` or `finishPending` was refused. */
export function notChanged(cause: SvcError): SvcError {
  if (cause.code === "SOP_UNWRITABLE") return cause;
  const isFull = FULL.has(cause.cause) || cause.code === "STORE_FULL";
  const hint = isFull ? "Free some space, then save again." : READ_ONLY.has(cause.cause) ? MAKE_WRITABLE : cause.hint;
  return new SvcError("SOP_UNWRITABLE", `The files were not changed: ${cause.message}`, {
    ...(hint !== undefined && { hint }),
    cause,
  });
}

const READ_ONLY: ReadonlySet<unknown> = new Set(["EACCES", "EPERM", "EROFS"]);
const FULL: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);
const MAKE_WRITABLE = "Make the procedure's files and their folder writable for this user, then save again.";
