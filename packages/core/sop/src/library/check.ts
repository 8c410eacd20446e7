/** Procedures checked for a person, apart from what is loaded: `svc sop validate`. Every problem, every warning. */
import { basename, join } from "node:path";
import type { Problem } from "@svc/config";
import { type CheckedSop, type DefinitionRules, type Known, checkSop } from "./definition.ts";
import { NAME_RULE, SOP_NAME } from "./types.ts";
import { AT_A_TIME, inParallel, listFolders, workspaceOf } from "./folders.ts";
import { problemOf, readFiles } from "./files.ts";

export interface CheckOptions extends DefinitionRules {
  readonly known: Known;
}

/** All procedures of a folder, as `<workspace>/sops`; in the order of their names. */
export async function checkSops(folder: string, options: CheckOptions): Promise<CheckedSop[]> {
  const { names, misnamed } = await listFolders(folder);
  const folders = [...names, ...misnamed].toSorted().map((name) => join(folder, name));
  const root = await workspaceOf(folder);
  const checked = await inParallel(folders, AT_A_TIME, (one) => checkFolder(one, root, options, options.known));
  return checked.filter((one) => one !== undefined);
}

/** `root`: real path of what its files must lie in. Undefined when there is no procedure. Never rejects. */
export async function checkFolder(
  folder: string,
  root: string,
  rules: DefinitionRules,
  known?: Known,
): Promise<CheckedSop | undefined> {
  const name = basename(folder);
  const { files, problems, isMissing } = await readFiles(folder, root);
  const failed = (found: readonly Problem[]): CheckedSop => ({
    name,
    definition: undefined,
    problems: found,
    warnings: [],
    ...(isMissing && { isMissing }),
  });
  if (!SOP_NAME.test(name) && (files ?? problems.length > 0)) {
    return failed([problemOf(folder, NAME_RULE), ...problems]);
  }
  // What is nested so deeply that a reader runs out of stack must not keep the other procedures from being read.
  if (files)
    return checkSop(files, rules, known).catch(() => failed([problemOf(folder, "is not readable as a procedure")]));
  return problems.length > 0 ? failed(problems) : undefined;
}
