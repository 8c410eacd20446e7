/** The static `"svc"` block of a feature's package.json: read and checked here, without running the feature. */
import { FEATURE_KINDS, SvcError, type FeatureManifest } from "@svc/contract";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { problemsOf } from "./problems.ts";

/** A package that can be composed: its manifest, and where its code is. */
export interface FeaturePackage {
  readonly manifest: FeatureManifest;
  /** npm name, e.g. `@svc/tool-files`. */
  readonly packageName: string;
  readonly version: string;
  /** Absolute folder, symbolic links resolved: the bundler names inputs by their real path. */
  readonly dir: string;
  /** What the generated file imports: an absolute file, or the npm name of a package below node_modules. */
  readonly entry: string;
  /** What its processes run, by name; each as `entry` is written. */
  readonly children: ReadonlyMap<string, string>;
  /** Lives outside of packages/features. */
  readonly external: boolean;
}

/** The part of a package.json that composing reads. */
export interface PackageJson {
  readonly name?: string;
  readonly version?: string;
  readonly main?: string;
  readonly exports?: unknown;
  readonly svc?: unknown;
}

const ID = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, "lower-case words joined by hyphens"));
const filled = v.pipe(v.string(), v.regex(/\S/, "a sentence, not blank"));
const list = <Item extends v.GenericSchema>(item: Item) => v.optional(v.array(item), []);

const API_PATH = v.pipe(v.string(), v.regex(/^\/api(\/([a-z0-9-]+|\{[a-z_]+\}))+$/, "a path below /api/"));

export const idSchema = ID;

/** What a manifest and a planned feature have in common. */
export const manifestEntries = {
  flag: v.optional(ID),
  kind: v.picklist(FEATURE_KINDS),
  summary: filled,
  title: v.exactOptional(filled),
  aliases: v.exactOptional(v.record(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_]*$/, "a name such as pager")), filled)),
  sections: list(
    v.pipe(v.string(), v.regex(/^[a-z_]+(\.[a-z_]+)*$/, "a config section such as channels_config.webhook")),
  ),
  // `plugin_` is the prefix of what is installed later, which no feature may be in the way of.
  tools: list(
    v.pipe(v.string(), v.regex(/^(?!plugin_)[a-z][a-z0-9_]*$/, "a tool name such as file_read, not of a plugin")),
  ),
  toolsOff: v.exactOptional(v.strictObject({ reason: filled, hint: filled })),
  ingress: list(v.pipe(v.string(), v.regex(/^(\/[a-z0-9-]+)+$/, "a public path such as /provider-a"))),
  routes: list(API_PATH),
  open: list(API_PATH),
  commands: list(
    v.pipe(
      v.string(),
      v.regex(
        /^[a-z]+(-[a-z]+)*(?: [a-z]+(-[a-z]+)*)?$/,
        "a word of the command line such as plugin, or hardware discover",
      ),
    ),
  ),
  children: list(v.pipe(v.string(), v.regex(/^[a-z]+(-[a-z]+)*$/, "a name such as sandbox-exec"))),
  platforms: list(v.picklist(["linux", "darwin", "win32"])),
  needs: v.exactOptional(v.array(ID)),
  native: list(v.pipe(v.string(), v.regex(/^(@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/, "an npm name"))),
};

const manifestSchema = v.strictObject({ id: v.optional(ID), ...manifestEntries });

/**
 * Reads the package.json in `dir`.
 * @throws SvcError MANIFEST_INVALID, all problems at once.
 */
export function readManifest(dir: string, id?: string): { manifest: FeatureManifest; packageJson: PackageJson } {
  const file = join(dir, "package.json");
  let packageJson: PackageJson;
  try {
    packageJson = JSON.parse(readFileSync(file, "utf8")) as PackageJson;
  } catch (error) {
    throw new SvcError("MANIFEST_INVALID", `${file} can't be read as JSON.`, {
      hint: "A feature is a package with a package.json; correct the file.",
      cause: error,
    });
  }
  const problems =
    packageJson.svc === undefined
      ? ['svc: missing; a feature\'s package.json has a "svc" block']
      : problemsOf(manifestSchema, packageJson.svc).map((problem) => `svc.${problem}`);
  if (problems.length > 0) throw invalid(file, problems);
  const { id: own, flag, ...rest } = v.parse(manifestSchema, packageJson.svc);
  const name = id ?? own ?? idFromPackageName(packageJson.name);
  if (name === undefined) throw invalid(file, ["svc.id: missing, and the package's name gives none"]);
  if (own !== undefined && own !== name) throw invalid(file, ["svc.id: must be the folder's name"]);
  return { manifest: { id: name, flag: flag ?? name, ...rest }, packageJson };
}

export function invalid(file: string, problems: readonly string[]): SvcError {
  return new SvcError("MANIFEST_INVALID", `${file} is not a valid manifest.\n  ${problems.join("\n  ")}`, {
    hint: "packages/features/README.md lists the keys.",
  });
}

/** `@acme/svc-foo` and `svc-foo` are the feature `foo`. */
function idFromPackageName(name: string | undefined): string | undefined {
  const id = name?.split("/").at(-1)?.replace(/^svc-/, "");
  return id !== undefined && v.is(ID, id) ? id : undefined;
}
