/** Who imports whom. A wall that only a reviewer guards falls at the first deadline. */
import { posix } from "node:path";
import type { Check, Finding } from "../check.ts";
import { packageName, packagesOf } from "../package-files.ts";
import { OUTSIDE, type Layer, LAYERS, layerOf } from "../layers.ts";
import { type Import, isTest, type Source } from "@svc/source";

export const layers: Check = {
  id: "layers",
  rule: "A package imports only the layers that docs/architecture.md lets it import.",
  find(workspace) {
    const folders = new Map(packagesOf(workspace).map(({ name, folder }) => [name, folder]));
    return workspace
      .sources((file) => layerOf(file) !== undefined)
      .flatMap((source) => source.imports.flatMap((one) => judge(source, one, folders)));
  },
};

function judge(source: Source, one: Import, folders: ReadonlyMap<string, string>): Finding[] {
  const layer = layerOf(source.file);
  if (!layer) return [];
  const tell = (message: string, fix: string): Finding[] => [{ file: source.file, line: one.line, message, fix }];

  const home = folderOf(source.file, layer);
  if (one.specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(source.file), one.specifier);
    if (target.startsWith(`${home}/`)) return [];
    return tell("A relative import leaves its package.", "Import the other package by its name.");
  }

  const folder = folders.get(packageName(one.specifier));
  if (folder === undefined) return outside(source, one, layer, tell);
  if (folder === home) return tell("A package imports itself by name.", "Use a relative import.");
  const target = layerOf(folder);
  if (target && (layer.imports.includes(target.name) || (isTest(source.file) && mayTestWith(target)))) return [];
  const wanted = layer.imports.length === 0 ? "nothing of this workspace" : layer.imports.join(", ");
  return tell(
    `${layer.name} may not import ${folder}.`,
    `It may import ${wanted}. Move shared code down, or pass it in at construction.`,
  );
}

function outside(
  source: Source,
  one: Import,
  layer: Layer,
  tell: (message: string, fix: string) => Finding[],
): Finding[] {
  const matches = (prefix: string): boolean =>
    one.specifier === prefix || one.specifier.startsWith(/[:/]$/.test(prefix) ? prefix : `${prefix}/`);
  if (layer.never?.some(matches) && !isTest(source.file)) {
    return tell(`${layer.name} may not import ${one.specifier}.`, "Pass the dependency as an argument.");
  }
  const owner = LAYERS.find(({ owns }) => owns?.some(matches));
  if (!owner || owner === layer || OUTSIDE.has(layer.name)) return [];
  return tell(`Only ${owner.name} may import ${one.specifier}.`, `Hand plain data to ${owner.name} instead.`);
}

/** Tests may use what never ships; the code they test may not. */
const mayTestWith = (target: Layer): boolean => target.name === "tooling";

const folderOf = (file: string, layer: Layer): string => file.split("/", layer.folder.split("/").length).join("/");
