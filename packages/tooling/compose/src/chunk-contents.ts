/** The contents of each chunk of a bundle. With the chunks that a process evaluated, they tell which libraries it loaded. */
import type { Metafile } from "esbuild";
import { basename } from "node:path";
import type { FeaturePackage } from "./manifest.ts";
import { ownerOf } from "./owner.ts";

export interface ChunkContents {
  readonly bytes: number;
  /** Id of the feature that loads it; definitions, which are evaluated with every start, load nothing yet. */
  readonly feature: string | null;
  /** Names of npm packages whose code is in it, sorted. */
  readonly packages: readonly string[];
}

/** By file name, sorted. */
export function chunkContents(
  root: string,
  features: readonly FeaturePackage[],
  { outputs }: Metafile,
): Readonly<Record<string, ChunkContents>> {
  const externals = features.filter(({ external }) => external);
  const contents = Object.entries(outputs).map(([path, { bytes, inputs, entryPoint }]): [string, ChunkContents] => {
    const owner = entryPoint === undefined ? undefined : ownerOf(root, externals, entryPoint);
    const feature = owner?.kind === "feature" || owner?.kind === "external" ? owner.name : null;
    const packages = Object.entries(inputs).flatMap(([input, { bytesInOutput }]) => {
      const whose = ownerOf(root, externals, input);
      return bytesInOutput > 0 && whose.kind === "npm" ? [whose.name] : [];
    });
    return [basename(path), { bytes, feature, packages: [...new Set(packages)].sort() }];
  });
  return Object.fromEntries(contents.sort(([a], [b]) => (a < b ? -1 : 1)));
}
