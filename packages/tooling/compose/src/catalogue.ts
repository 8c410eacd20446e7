/** Everything that could be in a binary: the packages that exist, those that are planned, and the profiles. */
import { SvcError, type FeatureManifest } from "@svc/contract";
import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { childrenOf } from "./external.ts";
import { idSchema, invalid, manifestEntries, readManifest, type FeaturePackage } from "./manifest.ts";
import { profileChain, readProfiles, type Profile } from "./profile.ts";
import { readToml } from "./toml.ts";
import { featuresDir, packageDirs, profilesDir, workspaceRoot } from "./workspace.ts";

export interface Catalogue {
  readonly root: string;
  /** Packages in packages/features, by id. */
  readonly features: ReadonlyMap<string, FeaturePackage>;
  /** Features of the specification without a package yet, by id. */
  readonly planned: ReadonlyMap<string, FeatureManifest>;
  /** By name; smaller profiles first. */
  readonly profiles: ReadonlyMap<string, Profile>;
}

const plannedSchema = v.record(idSchema, v.strictObject(manifestEntries));

/**
 * Reads manifests only; no feature code runs.
 * @throws SvcError MANIFEST_INVALID or PROFILE_INVALID, naming the file and what is wrong in it.
 */
export function readCatalogue(root: string = workspaceRoot): Catalogue {
  const features = readFeatures(root);
  const plannedFile = join(profilesDir(root), "planned.toml");
  const planned = existsSync(plannedFile) ? readPlanned(plannedFile) : new Map<string, FeatureManifest>();
  const both = [...planned.keys()].filter((id) => features.has(id));
  if (both.length > 0) {
    throw new SvcError("PROFILE_INVALID", `Both planned and existing: ${both.join(", ")}.`, {
      hint: `Delete the table from ${plannedFile} and move the id from \`planned\` to \`features\` in its profile.`,
    });
  }
  const catalogue: Catalogue = { root, features, planned, profiles: readProfiles(profilesDir(root)) };
  checkProfiles(catalogue);
  return catalogue;
}

/** Names of the profiles that have this feature, or will have it; smaller ones first. */
export function profilesOf(catalogue: Catalogue, id: string): string[] {
  return [...catalogue.profiles.keys()].filter((name) =>
    profileChain(catalogue.profiles, name).some((profile) => [...profile.features, ...profile.planned].includes(id)),
  );
}

function readFeatures(root: string): Map<string, FeaturePackage> {
  const features = new Map<string, FeaturePackage>();
  for (const id of packageDirs(featuresDir(root))) {
    const dir = realpathSync(join(featuresDir(root), id));
    const { manifest, packageJson } = readManifest(dir, id);
    const packageName = packageJson.name ?? "";
    if (packageName !== `@svc/${id}`) throw invalid(join(dir, "package.json"), [`name: must be @svc/${id}`]);
    const version = packageJson.version ?? "0.0.0";
    const children = childrenOf(dir, manifest, packageJson);
    features.set(id, {
      manifest,
      packageName,
      version,
      dir,
      entry: join(dir, "src/index.ts"),
      children,
      external: false,
    });
  }
  return features;
}

function readPlanned(file: string): Map<string, FeatureManifest> {
  const tables = Object.entries(readToml(file, plannedSchema));
  return new Map(tables.map(([id, { flag, ...rest }]) => [id, { id, flag: flag ?? id, ...rest }]));
}

/** A profile that lists a word nobody knows, or keeps calling a written package planned, is told at once. */
function checkProfiles({ features, planned, profiles }: Catalogue): void {
  const problems: string[] = [];
  for (const profile of profiles.values()) {
    for (const id of profile.planned) {
      if (features.has(id)) problems.push(`${profile.file}: planned: ${id} exists now; move it to \`features\``);
      else if (!planned.has(id)) problems.push(`${profile.file}: planned: ${id} has no table in planned.toml`);
    }
    for (const id of profile.features) {
      if (planned.has(id)) problems.push(`${profile.file}: features: ${id} is not written yet; list it in \`planned\``);
    }
  }
  if (problems.length === 0) return;
  throw new SvcError("PROFILE_INVALID", `The profiles and the packages disagree.\n  ${problems.join("\n  ")}`, {
    hint: "Correct the profiles named above.",
  });
}
