/** What else is in the binary: the npm packages of the bundle and of the page, and the Node it runs on. */
import type { Metafile } from "esbuild";
import { realpathSync } from "node:fs";
import { join, relative } from "node:path";
import type { FeaturePackage } from "./manifest.ts";
import { ownerOf, type Dependencies } from "./owner.ts";
import { readJson } from "./workspace.ts";

export interface Component {
  readonly name: string;
  readonly version: string;
  /** SPDX expression as the package states it, or `UNKNOWN`. */
  readonly license: string;
}

/** Sorted by name, then version. */
export function componentsOf(root: string, features: readonly FeaturePackage[], metafile: Metafile): Component[] {
  const externals = features.filter(({ external }) => external);
  const found = new Map<string, Component>();
  for (const input of Object.keys(metafile.inputs)) {
    const owner = ownerOf(root, externals, input);
    if (owner.kind !== "npm" || found.has(owner.dir)) continue;
    found.set(owner.dir, componentOf(join(root, owner.dir)));
  }
  for (const dir of packagesOfPage(root)) found.set(dir, componentOf(join(root, dir)));
  for (const { dir } of externals) found.set(dir, componentOf(dir));
  const unique = new Map([...found.values()].map((component) => [`${component.name}@${component.version}`, component]));
  return [...unique.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, component]) => component);
}

/** Folders of what the page is bundled with. */
function packagesOfPage(root: string): string[] {
  const page = join(root, "apps/dashboard");
  const { dependencies = {} } = readJson(join(page, "package.json")) as Dependencies;
  return Object.keys(dependencies).map((name) => relative(root, realpathSync(join(page, "node_modules", name))));
}

/** The package in `dir`. */
function componentOf(dir: string): Component {
  const { name, version, license } = readJson(join(dir, "package.json")) as Dependencies & Partial<Component>;
  return { name: name ?? "UNKNOWN", version: version ?? "UNKNOWN", license: licenseOf(license) };
}

/** A string, or the `{ type }` of old packages. */
function licenseOf(license: unknown): string {
  if (typeof license === "string" && license !== "") return license;
  const type = (license as { type?: unknown } | null | undefined)?.type;
  return typeof type === "string" ? type : "UNKNOWN";
}
