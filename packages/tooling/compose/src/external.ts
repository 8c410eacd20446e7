/** Features from outside this repository: an npm package at the workspace root, or a folder. */
import { type FeatureManifest, SvcError } from "@svc/contract";
import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { invalid, readManifest, type FeaturePackage, type PackageJson } from "./manifest.ts";

/** `./my-feature`, `../x`, `/abs`: a folder, not a name. */
function isPath(spec: string): boolean {
  return spec === "." || spec === ".." || /^\.\.?[\\/]/.test(spec) || isAbsolute(spec);
}

/**
 * Reads the feature that `spec` names, or `undefined` when it names no package at all.
 * @param from Folder that a relative path starts at.
 * @throws SvcError MANIFEST_INVALID for a package without a valid manifest or entry.
 */
export function readExternal(root: string, spec: string, from: string): FeaturePackage | undefined {
  const path = isPath(spec);
  const at = path ? resolve(from, spec) : join(root, "node_modules", spec);
  if (!existsSync(join(at, "package.json"))) {
    if (!path) return undefined;
    throw new SvcError("USAGE", `${spec}: there is no package in ${at}.`, {
      hint: "A path names the folder that holds the feature's package.json.",
    });
  }
  const dir = realpathSync(at);
  const { manifest, packageJson } = readManifest(dir);
  const entry = entryOf(dir, packageJson);
  if (entry === undefined) {
    throw invalid(join(dir, "package.json"), ["exports: must lead to the file whose default export is the feature"]);
  }
  return {
    manifest,
    packageName: packageJson.name ?? manifest.id,
    version: packageJson.version ?? "0.0.0",
    dir,
    // By its name where there is one: the runtime and the bundler then apply the package's own `exports` rules.
    entry: path ? entry : spec,
    children: childrenOf(dir, manifest, packageJson, path ? undefined : spec),
    external: true,
  };
}

/**
 * What its processes run: `./children/<name>` of its exports, by the package's name where it goes by that.
 * @throws SvcError MANIFEST_INVALID where there is no such file.
 */
export function childrenOf(
  dir: string,
  manifest: FeatureManifest,
  { exports }: PackageJson,
  name?: string,
): ReadonlyMap<string, string> {
  return new Map(
    manifest.children.map((child) => {
      const key = `./children/${child}`;
      const file = target((exports as Record<string, unknown> | undefined)?.[key]);
      if (file === undefined || !existsSync(resolve(dir, file))) {
        throw invalid(join(dir, "package.json"), [`exports: "${key}" must lead to what that process runs`]);
      }
      return [child, name === undefined ? resolve(dir, file) : `${name}/children/${child}`];
    }),
  );
}

/** The file of the package's `.` export (`import`, then `default`), else `main`, else index.js. */
function entryOf(dir: string, packageJson: PackageJson): string | undefined {
  const candidates = [target(packageJson.exports), packageJson.main, "./index.js", "./src/index.ts"];
  return candidates
    .filter((candidate) => candidate !== undefined)
    .map((candidate) => resolve(dir, candidate))
    .find((file) => file.startsWith(dir) && existsSync(file));
}

function target(exports: unknown): string | undefined {
  if (typeof exports === "string") return exports;
  if (typeof exports !== "object" || exports === null) return undefined;
  const map = exports as Record<string, unknown>;
  return target(map["."] ?? map["node"] ?? map["import"] ?? map["default"]);
}
