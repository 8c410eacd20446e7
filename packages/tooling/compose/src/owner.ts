/** Whose file an input of the bundle is. Everything the proof and the SBOM say rests on this. */
import { readFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import type { PackageJson, FeaturePackage } from "./manifest.ts";

export type Owner =
  | { readonly kind: "app" | "generated" }
  /** Folder name below packages/core, packages/features or packages/tooling. */
  | { readonly kind: "core" | "feature" | "tooling"; readonly name: string }
  | { readonly kind: "external"; readonly name: string }
  | { readonly kind: "npm"; readonly name: string; readonly dir: string }
  /** The loader of a native addon, written by the build. */
  | { readonly kind: "native" }
  /** Stands for an optional package that is not installed. */
  | { readonly kind: "absent" }
  /** Inside of no package the build knows. */
  | { readonly kind: "foreign" };

const GROUPS: Readonly<Record<string, "core" | "feature" | "tooling">> = {
  core: "core",
  features: "feature",
  tooling: "tooling",
};

/** @param input Path as the metafile spells it: relative to `root`, forward slashes. */
export function ownerOf(root: string, externals: readonly FeaturePackage[], input: string): Owner {
  if (input.startsWith("native:")) return { kind: "native" };
  if (input.startsWith("absent:")) return { kind: "absent" };
  const path = input.replace(/^\(disabled\):/, "");
  const absolute = resolve(root, path);
  const external = externals.find(({ dir }) => absolute.startsWith(dir + sep));
  const nested = path.lastIndexOf("node_modules/");
  // The folder of an npm feature is below node_modules too; what lies deeper, in its own node_modules, is npm's.
  if (external !== undefined && !absolute.slice(external.dir.length).includes(`${sep}node_modules${sep}`)) {
    return { kind: "external", name: external.manifest.id };
  }
  if (nested !== -1) {
    const [scope = "", name = ""] = path.slice(nested + "node_modules/".length).split("/");
    const packageName = scope.startsWith("@") ? `${scope}/${name}` : scope;
    return { kind: "npm", name: packageName, dir: path.slice(0, nested) + `node_modules/${packageName}` };
  }
  const [top, group = "", name = ""] = path.split("/");
  if (top === "apps" && group === "svc") return { kind: name === ".gen" ? "generated" : "app" };
  const kind = GROUPS[group];
  return top === "packages" && kind !== undefined ? { kind, name } : { kind: "foreign" };
}

/** The package.json that governs a file: the nearest one above it that has a name. */
export function packageJsonOf(root: string, input: string): PackageJson & Dependencies {
  for (let dir = dirname(resolve(root, input)); ; dir = dirname(dir)) {
    const found = tryRead(join(dir, "package.json"));
    if (found?.name !== undefined) return found;
    if (dir === dirname(dir)) return {};
  }
}

export interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly license?: unknown;
}

function tryRead(file: string): (PackageJson & Dependencies) | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as PackageJson & Dependencies;
  } catch {
    return undefined;
  }
}
