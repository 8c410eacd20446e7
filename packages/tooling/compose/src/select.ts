/** Profile plus `--with` minus `--without` = what one binary consists of. */
import { type Recipe, SvcError } from "@svc/contract";
import { dirname } from "node:path";
import { readExternal } from "./external.ts";
import { profilesOf, type Catalogue } from "./catalogue.ts";
import type { FeaturePackage } from "./manifest.ts";
import { didYouMean } from "./problems.ts";
import { profileChain, type Budget } from "./profile.ts";
import { hostTarget, type Target } from "./target.ts";

export interface Request {
  readonly profile: string;
  /** Ids, flags, npm names or paths to add. */
  readonly with?: readonly string[];
  /** Ids or flags to leave out. */
  readonly without?: readonly string[];
  /** Default: this machine. */
  readonly target?: Target;
  /** Folder that a path in `with` starts at. Default: the workspace root. */
  readonly cwd?: string;
}

export interface Selection {
  readonly profile: string;
  /** As it was asked for. */
  readonly recipe: Recipe;
  /** Folder below dist/ and .gen/: the profile's name, or `custom` when anything was added or taken away. */
  readonly name: string;
  readonly target: Target;
  /** By id. */
  readonly features: readonly FeaturePackage[];
  /** Ids that will join when they are written. */
  readonly planned: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Features of the profile that do not exist for the target. */
  readonly skipped: readonly string[];
  readonly budget: Budget;
  readonly notes: readonly string[];
}

/** @throws SvcError USAGE for what was asked wrongly, PROFILE_INVALID, FEATURE_PLANNED, FEATURE_PLATFORM. */
export function resolveProfile(catalogue: Catalogue, request: Request): Selection {
  const target = request.target ?? hostTarget();
  const notes: string[] = [];
  const { features, planned, budget } = ofProfile(catalogue, request.profile);
  const skipped = [...features.values()].filter((feature) => !fits(feature, target)).map(idOf);
  for (const id of skipped) features.delete(id);
  if (skipped.length > 0) notes.push(`not for ${target.os}: ${skipped.join(", ")}`);

  const added = (request.with ?? []).flatMap((word) => {
    const { found, later } = find(catalogue, word, request.cwd ?? catalogue.root);
    if (later.length > 0) notes.push(`${word}: not written yet: ${later.join(", ")}`);
    for (const id of later) planned.add(id);
    const all = [...new Set(found.flatMap((feature) => withNeeded(catalogue, feature)))];
    return all.filter((feature) => add(catalogue, features, feature, target)).map(idOf);
  });
  const removed = (request.without ?? []).flatMap((word) =>
    remove(catalogue, features, planned, word, request.profile),
  );
  removed.push(...removeDependents(features, { added, notes }));

  return {
    profile: request.profile,
    recipe: { profile: request.profile, with: request.with ?? [], without: request.without ?? [] },
    name: added.length + removed.length > 0 ? "custom" : request.profile,
    target,
    features: [...features.values()].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1)),
    planned: [...planned].sort(),
    added: added.sort(),
    removed: removed.sort(),
    skipped: skipped.sort(),
    // The budget fits the profile's own features: a build with more has none.
    budget: added.length > 0 ? {} : budget,
    notes,
  };
}

function ofProfile(catalogue: Catalogue, name: string) {
  const names = [...catalogue.profiles.keys()];
  if (!catalogue.profiles.has(name)) {
    throw new SvcError("USAGE", `There is no profile "${name}".${didYouMean(name, names)}`, {
      hint: `Profiles: ${names.join(", ")}.`,
    });
  }
  const features = new Map<string, FeaturePackage>();
  const planned = new Set<string>();
  const chain = profileChain(catalogue.profiles, name);
  for (const profile of chain) {
    for (const word of profile.features) {
      const feature = catalogue.features.get(word) ?? readExternal(catalogue.root, word, dirname(profile.file));
      if (feature === undefined) {
        const known = [...catalogue.features.keys()];
        throw new SvcError(
          "PROFILE_INVALID",
          `${profile.file}: features: no package "${word}".${didYouMean(word, known)}`,
          {
            hint: `Features: ${known.join(", ")}; or an npm package at the workspace root, or a path.`,
          },
        );
      }
      unclaimed(catalogue, features, feature);
      features.set(idOf(feature), feature);
    }
    for (const id of profile.planned) planned.add(id);
  }
  const budget: Budget = Object.assign({}, ...chain.map((profile) => profile.budget));
  return { features, planned, budget };
}

/** The packages that a word of `--with` names; `later` are those of the flag that are not written yet. */
function find(catalogue: Catalogue, word: string, cwd: string): { found: FeaturePackage[]; later: string[] } {
  const named = (id: string, flag: string): boolean => id === word || flag === word;
  const found = [...catalogue.features.values()].filter(({ manifest }) => named(manifest.id, manifest.flag));
  const later = [...catalogue.planned.values()].filter(({ id, flag }) => named(id, flag)).map(({ id }) => id);
  if (found.length > 0) return { found, later };
  const [first] = later;
  if (first !== undefined) {
    const profiles = profilesOf(catalogue, first);
    const where = profiles.length > 0 ? ` It will be in: ${profiles.join(", ")}.` : "";
    throw new SvcError(
      "FEATURE_PLANNED",
      `"${word}" is planned; its package is not written yet (${later.join(", ")}).${where}`,
      {
        hint: "Build without it, or write the package: pnpm new feature.",
      },
    );
  }
  const external = readExternal(catalogue.root, word, cwd);
  if (external !== undefined) return { found: [external], later: [] };
  const known = flagsOf(catalogue);
  throw new SvcError("USAGE", `--with: there is no feature "${word}".${didYouMean(word, known)}`, {
    hint: `Features: ${[...catalogue.features.keys()].join(", ")}. Planned: ${[...catalogue.planned.keys()].join(", ")}.`,
  });
}

/** The feature, and those without which its build would not start. */
const withNeeded = (catalogue: Catalogue, feature: FeaturePackage): FeaturePackage[] => [
  feature,
  ...(feature.manifest.needs ?? []).flatMap((id) => {
    const needed = catalogue.features.get(id);
    return needed ? withNeeded(catalogue, needed) : [];
  }),
];

/** @returns false when it was in already. */
function add(
  catalogue: Catalogue,
  features: Map<string, FeaturePackage>,
  feature: FeaturePackage,
  target: Target,
): boolean {
  if (features.get(idOf(feature))?.dir === feature.dir) return false;
  if (!fits(feature, target)) {
    throw new SvcError("FEATURE_PLATFORM", `${idOf(feature)} does not exist for ${target.os}.`, {
      hint: `It exists for: ${feature.manifest.platforms.join(", ")}.`,
    });
  }
  unclaimed(catalogue, features, feature);
  features.set(idOf(feature), feature);
  return true;
}

function remove(
  catalogue: Catalogue,
  features: Map<string, FeaturePackage>,
  planned: Set<string>,
  word: string,
  profile: string,
): string[] {
  const named = (id: string, flag: string): boolean => id === word || flag === word;
  const here = [...features.values()]
    .filter(({ manifest, packageName }) => named(manifest.id, manifest.flag) || packageName === word)
    .map(idOf);
  const later = [...catalogue.planned.values()].filter(({ id, flag }) => named(id, flag) && planned.has(id));
  for (const id of here) features.delete(id);
  for (const { id } of later) planned.delete(id);
  if (here.length + later.length > 0) return [...here, ...later.map(({ id }) => id)];
  const inside = [...features.keys(), ...planned];
  const known = flagsOf(catalogue).includes(word);
  throw new SvcError(
    "USAGE",
    known
      ? `--without: "${word}" is not in ${profile}.`
      : `--without: there is no feature "${word}".${didYouMean(word, flagsOf(catalogue))}`,
    { hint: `In ${profile}: ${inside.join(", ")}.` },
  );
}

/**
 * Takes away what can't start without a feature that was taken away. Throws USAGE for one that `--with` named.
 * @returns ids.
 */
function removeDependents(
  features: Map<string, FeaturePackage>,
  { added, notes }: { readonly added: readonly string[]; readonly notes: string[] },
): string[] {
  const removed: string[] = [];
  for (;;) {
    const missing = (feature: FeaturePackage): string[] =>
      (feature.manifest.needs ?? []).filter((id) => !features.has(id));
    const dependent = [...features.values()].find((feature) => missing(feature).length > 0);
    if (!dependent) return removed;
    const id = idOf(dependent);
    const needed = missing(dependent).join(", ");
    if (added.includes(id)) {
      throw new SvcError("USAGE", `--with ${id} needs ${needed}, which --without takes away.`, {
        hint: `Drop one of the two: --with ${id}, or --without for ${needed}.`,
      });
    }
    notes.push(`left out: ${id}, which needs ${needed}`);
    features.delete(id);
    removed.push(id);
  }
}

/** An id is one package's: a stranger that takes the name of a known feature is refused, not preferred. */
function unclaimed(catalogue: Catalogue, features: Map<string, FeaturePackage>, feature: FeaturePackage): void {
  const id = idOf(feature);
  const other = features.get(id);
  const known = feature.external && (catalogue.features.has(id) || catalogue.planned.has(id));
  if (!known && (other === undefined || other.dir === feature.dir)) return;
  throw new SvcError("MANIFEST_INVALID", `${feature.packageName} claims the id "${id}", which is taken.`, {
    hint: 'Choose another id: "svc": { "id": … } in its package.json.',
  });
}

const idOf = (feature: FeaturePackage): string => feature.manifest.id;

function fits({ manifest }: FeaturePackage, target: Target): boolean {
  return manifest.platforms.length === 0 || manifest.platforms.includes(target.os);
}

function flagsOf({ features, planned }: Catalogue): string[] {
  const manifests = [...[...features.values()].map(({ manifest }) => manifest), ...planned.values()];
  return [...new Set(manifests.flatMap(({ id, flag }) => [id, flag]))];
}
