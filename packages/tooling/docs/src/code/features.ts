/** The definitions of every feature that has a package. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { FeatureDefinition } from "@svc/contract";

/** By path, as the composer takes them: nothing may depend on a feature. A definition does nothing when it is read. */
export async function readFeatures(root: string): Promise<readonly FeatureDefinition[]> {
  const folder = join(root, "packages/features");
  const entries = readdirSync(folder)
    .toSorted()
    .map((name) => join(folder, name, "src/index.ts"))
    .filter((file) => existsSync(file));
  const modules = entries.map((file) => import(pathToFileURL(file).href) as Promise<{ default: FeatureDefinition }>);
  return (await Promise.all(modules)).map((module) => module.default);
}
