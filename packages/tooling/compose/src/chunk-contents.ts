/** What each chunk of a bundle holds: whoever knows which chunks a process evaluated knows which libraries it paid for. */
import type { Metafile } from "esbuild";
import { basename } from "node:path";
import type { FeaturePackage } from "./manifest.ts";
import { ownerOf } from "./owner.ts";

export interface ChunkContents {
  readonly bytes: number;
  /** Ids of features whose code is in it, sorted. */
  readonly features: readonly string[];
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
  const contents = Object.entries(outputs).map(([path, { bytes, inputs }]): [string, ChunkContents] => {
    const owners = Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([input]) => ownerOf(root, externals, input));
    const names = (kinds: readonly string[]): string[] =>
      [
        ...new Set(owners.flatMap((owner) => (kinds.includes(owner.kind) && "name" in owner ? [owner.name] : []))),
      ].sort();
    return [basename(path), { bytes, features: names(["feature", "external"]), packages: names(["npm"]) }];
  });
  return Object.fromEntries(contents.sort(([a], [b]) => (a < b ? -1 : 1)));
}
