/**
 * Native addons: what a manifest names under `native` must be found for the target, travels in the binary as
 * `native/<name>.node` and is mapped from there, with nothing written to disk. A package that finds its own .node file at
 * run time (koffi; node-gyp-build, bindings) needs its way of asking mapped in `FINDERS`.
 */
import { SvcError } from "@svc/contract";
import type { Plugin } from "esbuild";
import { existsSync, globSync, realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { FeaturePackage } from "./manifest.ts";
import type { Dependencies } from "./owner.ts";
import { fetchPackage } from "./fetch-package.ts";
import { hostTarget, platformName, type Target } from "./target.ts";
import { readJson } from "./workspace.ts";

export interface NativeAddon {
  /** npm name as in the manifest. */
  readonly name: string;
  /** Folder of the package. */
  readonly dir: string;
  readonly file: string;
  /** Path in the binary. */
  readonly asset: string;
}

/** Gets a package that is not installed: the addon of another platform. Returns its folder. */
type Fetch = (name: string, version: string) => Promise<string>;

/**
 * Addons of this machine come from the install alone; those of another platform, which no install here has, from the registry.
 *
 * @throws SvcError NATIVE_MISSING, every addon that is missing, with the feature that needs it and the reason.
 */
export async function locateNatives(
  root: string,
  features: readonly FeaturePackage[],
  target: Target,
  fetch: Fetch = (name, version) => fetchPackage(root, name, version),
): Promise<NativeAddon[]> {
  const isHere = platformName(target) === platformName(hostTarget());
  const found = new Map<string, NativeAddon>();
  const problems: string[] = [];
  for (const feature of features) {
    for (const name of feature.manifest.native) {
      const where = await locate(feature, name, target, isHere ? undefined : fetch);
      if (typeof where === "string") problems.push(`${feature.manifest.id} needs ${name}: ${where}`);
      else found.set(name, where);
    }
  }
  if (problems.length === 0) return [...found.values()];
  throw new SvcError("NATIVE_MISSING", `A native addon is missing.\n  ${problems.join("\n  ")}`, {
    hint: "Run pnpm install; an addon that is compiled needs a C++ compiler. Or leave the feature out: --without.",
  });
}

/** Turns the `.node` file that a declared package imports into the one in the binary. */
export function nativeAddons(addons: readonly NativeAddon[]): Plugin {
  return {
    name: "svc-native-addons",
    setup(build) {
      build.onResolve({ filter: /\.node$/ }, ({ path, resolveDir }) => {
        const file = resolve(resolveDir, path);
        const addon = addons.find(({ dir }) => existsSync(file) && realpathSync(file).startsWith(dir + sep));
        return addon === undefined ? undefined : { path: addon.name, namespace: "native", pluginData: addon };
      });
      build.onLoad({ filter: /.*/, namespace: "native" }, ({ pluginData }) => ({
        contents: loaderOf(pluginData as NativeAddon),
        loader: "js",
      }));
      for (const addon of addons) {
        const finder = FINDERS[addon.name];
        if (!finder) continue;
        build.onLoad({ filter: finder.module }, ({ path }) =>
          path.startsWith(addon.dir + sep) ? { contents: finder.contents(addon), loader: "js" } : undefined,
        );
      }
    },
  };
}

interface Finder {
  /** The file of the package that looks for the addon. */
  readonly module: RegExp;
  /** What stands in its place. */
  contents(addon: NativeAddon): string;
}

const FINDERS: Readonly<Record<string, Finder>> = {
  // It looks through its folder with node-gyp-build.
  "@serialport/bindings-cpp": {
    module: /[/\\]dist[/\\]serialport-bindings\.js$/,
    contents: (addon) => `"use strict";\n${loadingOf(addon)}\nexports.binding = target.exports;`,
  },
  // It asks `loadStatic` first, by `require` of a package per platform, and then looks through folders beside itself.
  koffi: {
    module: /[/\\]src[/\\]static\.js$/,
    contents: (addon) =>
      `export function loadStatic() {\n${loadingOf(addon, "import.meta.dirname")}\nreturn target.exports;\n}`,
  },
};

const loaderOf = (addon: NativeAddon): string => `${loadingOf(addon)}\nmodule.exports = target.exports;`;

/**
 * All chunks lie at the root of the binary's file system, so the folder of this one is that root. Node maps the addon from a descriptor
 * that it closes again, and the C library knows it by the path of that descriptor: the next addon in a descriptor of the same number would
 * be the first one again. So the number is taken for good. The folder is read first: reading it mounts the files and replaces `dlopen`.
 */
const loadingOf = ({ asset }: NativeAddon, here = "__dirname"): string => `const target = { exports: {} };
const file = process.getBuiltinModule("node:path").join(${here}, ${JSON.stringify(asset)});
process.dlopen(target, file);
if (process.platform === "linux") process.getBuiltinModule("node:fs").openSync("/dev/null");`;

async function locate(
  feature: FeaturePackage,
  name: string,
  target: Target,
  fetch: Fetch | undefined,
): Promise<NativeAddon | string> {
  let manifest: string | undefined;
  try {
    manifest = findPackageJSON(name, join(feature.dir, "package.json"));
  } catch {
    manifest = undefined;
  }
  if (manifest === undefined) return "the package is not installed";
  const dir = realpathSync(dirname(manifest));
  const found = (file: string): NativeAddon => ({ name, dir, file, asset: `native/${name.replaceAll("/", "+")}.node` });
  const own = addonIn(dir, target);
  if (own !== undefined) return found(own);
  const companion = companionOf(manifest, target);
  const there = companion && (companion.dir ?? (await fetch?.(companion.name, companion.version)));
  const file = there === undefined ? undefined : addonIn(there, target);
  if (file !== undefined) return found(file);
  if (companion && there === undefined) return `its package ${companion.name} is not installed`;
  return `there is no .node file for ${platformName(target)} in it`;
}

function addonIn(dir: string, target: Target): string | undefined {
  const isHere = platformName(target) === platformName(hostTarget());
  const first = [
    ...prebuildsIn(dir, target).flatMap((folder) => [`prebuilds/${folder}/*.node`, `prebuilds/${folder}/*/*.node`]),
    ...(isHere ? ["build/Release/*.node"] : []), // compiled by the install, for the machine that it ran on
    `${target.os}_${target.cpu}/*.node`,
    "*.node",
  ]
    .flatMap((pattern) => globSync(pattern, { cwd: dir }).sort())
    .find((path) => !path.includes("musl"));
  return first === undefined ? undefined : join(dir, first);
}

/** `linux-x64`, or `darwin-x64+arm64` for a file that holds both. */
function prebuildsIn(dir: string, { os, cpu }: Target): string[] {
  const folders = globSync("prebuilds/*", { cwd: dir }).map((path) => basename(path));
  return folders.filter((folder) => {
    const [system, ...cpus] = folder.split(/[-+]/);
    return system === os && cpus.includes(cpu);
  });
}

interface Companion {
  readonly name: string;
  readonly version: string;
  /** undefined: not installed. */
  readonly dir: string | undefined;
}

/** Some packages have an optional dependency for each platform; on a machine there is only its own. */
function companionOf(manifest: string, target: Target): Companion | undefined {
  const { optionalDependencies = {} } = readJson(manifest) as Dependencies;
  const entry = Object.entries(optionalDependencies).find(([each]) => each.endsWith(`-${platformName(target)}`));
  if (entry === undefined) return undefined;
  const [name, version] = entry;
  try {
    const found = findPackageJSON(name, realpathSync(manifest));
    return { name, version, dir: found === undefined ? undefined : realpathSync(dirname(found)) };
  } catch {
    return { name, version, dir: undefined };
  }
}
