/**
 * A feature from outside the repository shares the workspace's contract and kit: two copies of `SvcError` would not be
 * `instanceof` each other. Its valibot is its own where it has one, else the workspace's.
 */
import type { Plugin } from "esbuild";
import { join, sep } from "node:path";
import type { FeaturePackage } from "./manifest.ts";

export function sharedPackages(root: string, features: readonly FeaturePackage[]): Plugin {
  const strangers = features.filter(({ external }) => external).map(({ dir }) => dir + sep);
  return {
    name: "svc-shared-packages",
    setup(build) {
      if (strangers.length === 0) return;
      build.onResolve({ filter: SHARED }, async ({ path, kind, resolveDir, pluginData }) => {
        if (pluginData === OURS || !strangers.some((dir) => `${resolveDir}${sep}`.startsWith(dir))) return undefined;
        const ours = { kind, resolveDir: sharedFrom(root, path), pluginData: OURS };
        if (path.startsWith("@svc/")) return build.resolve(path, ours);
        const own = await build.resolve(path, { kind, resolveDir, pluginData: OURS });
        return own.errors.length === 0 ? own : build.resolve(path, ours);
      });
    },
  };
}

/** What a stranger may leave out of its own dependencies. */
export const SHARED: RegExp = /^(@svc\/(contract|kit)|valibot)(\/|$)/;

/** A folder of the workspace where this package resolves: the app has contract and kit, the contract has valibot. */
export function sharedFrom(root: string, path: string): string {
  return join(root, path.startsWith("@svc/") ? "apps/svc" : "packages/core/contract");
}

/** Marks a resolution that this plugin asked for itself. */
const OURS = Symbol("ours");
