/**
 * Native addons: what a manifest names under `native` must be found for the target, travels in the binary as
 * `native/<name>.node` and is mapped from there, with nothing written to disk. A package that finds its own .node file at
 * run time (koffi; node-gyp-build, bindings) needs its way of asking mapped in `FINDERS`.
 */
import { SvcError } from "@svc/contract";
import type { Plugin } from "esbuild";
import { existsSync, globSync, realpathSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname, join, resolve, sep } from "node:path";
import type { FeaturePackage } from "./manifest.ts";
import type { Dependencies } from "./owner.ts";
import { targetName, type Target } from "./target.ts";
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

/** @throws SvcError NATIVE_MISSING, every addon that is missing, with the feature that needs it and the reason. */
export function locateNatives(features: readonly FeaturePackage[], target: Target): NativeAddon[] {
  const found = new Map<string, NativeAddon>();
  const problems: string[] = [];
  for (const feature of features) {
    for (const name of feature.manifest.native) {
      const where = locate(feature, name, target);
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
    contents: ({ asset }) => `"use strict";
const target = { exports: {} };
process.dlopen(target, require("node:path").join(__dirname, ${JSON.stringify(asset)}));
exports.binding = target.exports;`,
  },
  // It asks `loadStatic` first, by `require` of a package per platform, and then looks through folders beside itself.
  koffi: {
    module: /[/\\]src[/\\]static\.js$/,
    contents: ({ asset }) => `import { join } from "node:path";
export function loadStatic() {
  const target = { exports: {} };
  process.dlopen(target, join(import.meta.dirname, ${JSON.stringify(asset)}));
  return target.exports;
}`,
  },
};

/** All chunks lie at the root of the binary's file system, so `__dirname` is that root. */
function loaderOf({ asset }: NativeAddon): string {
  return `const target = { exports: {} };
process.dlopen(target, require("node:path").join(__dirname, ${JSON.stringify(asset)}));
module.exports = target.exports;`;
}

function locate(feature: FeaturePackage, name: string, target: Target): NativeAddon | string {
  let manifest: string | undefined;
  try {
    manifest = findPackageJSON(name, join(feature.dir, "package.json"));
  } catch {
    manifest = undefined;
  }
  if (manifest === undefined) return "the package is not installed";
  const dir = realpathSync(dirname(manifest));
  const own = addonIn(dir, target);
  const companion = companionOf(manifest, target);
  const file = own ?? (companion?.dir === undefined ? undefined : addonIn(companion.dir, target));
  if (file !== undefined) return { name, dir, file, asset: `native/${name.replaceAll("/", "+")}.node` };
  if (companion && companion.dir === undefined) return `its package ${companion.name} is not installed`;
  return `there is no .node file for ${targetName(target)} in it`;
}

function addonIn(dir: string, target: Target): string | undefined {
  const platform = targetName(target);
  const first = [
    `prebuilds/${platform}/*.node`,
    `prebuilds/${platform}/*/*.node`,
    "build/Release/*.node",
    `${target.os}_${target.cpu}/*.node`,
    "*.node",
  ]
    .flatMap((pattern) => globSync(pattern, { cwd: dir }).sort())
    .find((path) => !path.includes("musl"));
  return first === undefined ? undefined : join(dir, first);
}

interface Companion {
  readonly name: string;
  /** undefined: not installed. */
  readonly dir: string | undefined;
}

/** Some packages have an optional dependency for each platform; on a machine there is only its own. */
function companionOf(manifest: string, target: Target): Companion | undefined {
  const { optionalDependencies = {} } = readJson(manifest) as Dependencies;
  const name = Object.keys(optionalDependencies).find((each) => each.endsWith(`-${targetName(target)}`));
  if (name === undefined) return undefined;
  try {
    const found = findPackageJSON(name, realpathSync(manifest));
    return { name, dir: found === undefined ? undefined : realpathSync(dirname(found)) };
  } catch {
    return { name, dir: undefined };
  }
}
