/** Puts a plan on the disk: the whole package appears at once, or not at all. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SvcError } from "@svc/contract";
import type { Plan } from "./plan.ts";

/** Throws USAGE when the folder appeared meanwhile. */
export function writePlan(root: string, plan: Plan): void {
  const target = join(root, plan.folder);
  mkdirSync(dirname(target), { recursive: true });
  // Beside the target, so that the rename stays on one file system; the dot keeps it out of every glob meanwhile.
  const draft = mkdtempSync(join(dirname(target), ".new-"));
  try {
    for (const [path, text] of plan.files) writeNew(join(draft, path), text);
    claim(draft, target, plan.folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  for (const [path, text] of plan.changes) replace(join(root, path), text);
}

/** A folder can't be renamed onto a non-empty one: of two concurrent calls one wins, the other gets an error. */
function claim(draft: string, target: string, name: string): void {
  try {
    if (!existsSync(target)) return renameSync(draft, target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "EPERM") throw error;
  }
  throw new SvcError("USAGE", `${name} exists already.`, { hint: "Choose another name." });
}

function writeNew(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { flag: "wx" });
}

function replace(file: string, text: string): void {
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
