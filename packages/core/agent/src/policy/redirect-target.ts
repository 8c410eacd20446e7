import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isInside } from "../workspace/path-rules.ts";
import type { LineRules } from "./command-line.ts";
import type { Word } from "./shell-syntax.ts";

/**
 * Whether a redirection opens a file inside the workspace, off the forbidden paths and not hidden, as far as can be told before the
 * line runs: a link made by the line itself is the sandbox's to stop.
 */
export function staysInside(target: Word, rules: Omit<LineRules, "allowedCommands">, moves: boolean): boolean {
  if (target.text === "/dev/null") return true;
  if (target.glob || target.tilde || target.text === "" || target.text.split("/").includes("..")) return false;
  if (moves && !isAbsolute(target.text)) return false;
  const path = resolve(rules.workspace, rules.folder, target.text);
  const real = realPathOf(path);
  const forbidden = rules.forbiddenPaths.map((entry) => resolve(rules.workspace, entry));
  return [path, real].every(
    (place) =>
      isInside(place, rules.workspace) &&
      !isHidden(relative(rules.workspace, place)) &&
      !forbidden.some((folder) => isInside(place, folder) || isInside(place, realPathOf(folder))),
  );
}

/** `.git/config` and `.npmrc` tell other programs what to run. */
const isHidden = (path: string): boolean => path.split(sep).some((part) => part.startsWith("."));

/** The real path of what exists of `path`, and the rest as it is written. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
