/** Where things are in the workspace. Every function of this package takes the root, so that tests build small ones. */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

export const workspaceRoot: string = resolve(import.meta.dirname, "../../../..");

export const featuresDir = (root: string): string => join(root, "packages/features");
export const profilesDir = (root: string): string => join(root, "profiles");
export const generatedDir = (root: string, name: string): string => join(root, "apps/svc/.gen", name);
export const cacheDir = (root: string): string => join(root, "node_modules/.cache/svc");

/** Version of the product: the app's. */
export function productVersion(root: string): string {
  return (readJson(join(root, "apps/svc/package.json")) as { version: string }).version;
}

export function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}

/** `path` as the bundler and people write it: relative to `from`, forward slashes. */
export function slashed(from: string, path: string): string {
  return relative(from, path).split(sep).join("/");
}

/** Names of the folders directly below `dir` that hold a package.json, sorted; none when `dir` is not there. */
export function packageDirs(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
      .map((entry) => entry.name)
      .filter((name) => readdirSync(join(dir, name)).includes("package.json"))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/**
 * Writes by rename, and only when the content differs: a reader never sees half a file, and a watcher sees only real
 * changes.
 */
export function writeIfChanged(file: string, content: string): boolean {
  try {
    if (readFileSync(file, "utf8") === content) return false;
  } catch {
    // Not there yet.
  }
  mkdirSync(dirname(file), { recursive: true });
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, content);
  renameSync(temporary, file);
  return true;
}
