/** The static `"svc"` block of a feature's package.json. The composer reads only this; no feature code runs. */
export interface FeatureManifest {
  readonly id: string;
  /** The build flag of the specification; several packages may share one. Default: the id. */
  readonly flag: string;
  readonly kind: FeatureKind;
  readonly summary: string;
  /** Its display name, where that is not its id. */
  readonly title?: string;
  /** Other names of its sections, as a person may write them: name → section. Each is answered with the right one. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Config sections it owns or extends. */
  readonly sections: readonly string[];
  readonly tools: readonly string[];
  /** The message for a tool that the feature does not offer now, such as without a device. */
  readonly toolsOff?: { readonly reason: string; readonly hint: string };
  /** Public paths for its deliveries; reserved for it even without configuration. */
  readonly ingress: readonly string[];
  /** Paths below `/api/` it serves, with segments `{name}`; each says why where the feature is not there, or off. */
  readonly routes: readonly string[];
  /** Those of them that may be open: served without a bearer. */
  readonly open: readonly string[];
  /** Words of the command line that it answers to, or a word and one action of it: `hardware discover`. */
  readonly commands: readonly string[];
  /** Child processes that it starts, by name: `svc __<name>` runs the package's `./children/<name>` export. */
  readonly children: readonly string[];
  /** `linux`, `darwin`, `win32`; empty: all. */
  readonly platforms: readonly string[];
  /** Ids of features that own sections which it extends: a build that adds it adds them. */
  readonly needs?: readonly string[];
  /** Native addons it needs, by npm name. */
  readonly native: readonly string[];
}

export const FEATURE_KINDS = [
  "channel",
  "tool",
  "sandbox",
  "observer",
  "browser",
  "hardware",
  "auth",
  "plugin-host",
  "feature",
] as const;
export type FeatureKind = (typeof FEATURE_KINDS)[number];

/** What a process of a feature's own runs. */
export interface ChildModule {
  /** Its exit code; undefined: it ends by itself, when nothing is left to do. */
  run(args: readonly string[]): Promise<number | undefined>;
}

/** A line of the catalogue that ships in every binary: all features, present or not. */
export interface CatalogueEntry extends FeatureManifest {
  /** In this binary. */
  readonly included: boolean;
  /** Not written yet. */
  readonly planned: boolean;
  /** Profiles that have it. */
  readonly profiles: readonly string[];
  /** The command that makes this build with it: `buildCommand`. */
  readonly build: string;
}

/** Which build it is. */
export interface Build {
  readonly version: string;
  readonly commit: string;
  /** `custom`: with features more or less than a profile has. */
  readonly profile: string;
  readonly recipe: Recipe;
}

/** What `pnpm build` was asked for. */
export interface Recipe {
  readonly profile: string;
  readonly with: readonly string[];
  readonly without: readonly string[];
}

/** Keeps the features of the running build. Every message that says "build it in" takes its command from here. */
export function buildCommand(recipe: Recipe, flag: string): string {
  const without = recipe.without.filter((word) => word !== flag);
  const words = [...new Set([...recipe.with, flag])].join(",");
  return [`npx pnpm build ${recipe.profile} --with ${words}`, ...without.map((word) => `--without ${word}`)].join(" ");
}
