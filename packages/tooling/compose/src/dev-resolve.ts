/** Loaded before the sources by `pnpm dev`: what resolve-plugin.ts does for the bundle, for the running sources. */
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SHARED, sharedFrom } from "./resolve-plugin.ts";
import { workspaceRoot } from "./workspace.ts";

const fixture = ["apps/", "packages/"].map((dir) => pathToFileURL(join(workspaceRoot, dir)).href);

registerHooks({
  resolve(specifier, context, next) {
    const parent = context.parentURL ?? "";
    const stranger = parent.startsWith("file:") && !fixture.some((dir) => parent.startsWith(dir));
    if (!stranger || !SHARED.test(specifier)) return next(specifier, context);
    const parentURL = pathToFileURL(join(sharedFrom(workspaceRoot, specifier), "package.json")).href;
    const ours = () => next(specifier, { ...context, parentURL });
    if (specifier.startsWith("@svc/")) return ours();
    try {
      return next(specifier, context);
    } catch {
      return ours();
    }
  },
});
