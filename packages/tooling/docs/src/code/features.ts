/** The definitions of every feature that has a package, further parts included. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { FeatureDefinition, FeatureExport } from "@svc/contract";

/** By path, as the composer takes them: nothing may depend on a feature. A definition does nothing when it is read. */
export async function readFeatures(root: string): Promise<readonly FeatureDefinition[]> {
  const folder = join(root, "packages/features");
  const entries = readdirSync(folder)
    .toSorted()
    .map((name) => join(folder, name, "src/index.ts"))
    .filter((file) => existsSync(file));
  const modules = entries.map((file) => import(pathToFileURL(file).href) as Promise<{ default: FeatureExport }>);
  return (await Promise.all(modules)).flatMap((module) => module.default);
}
