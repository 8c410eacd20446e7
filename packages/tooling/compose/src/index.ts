/** `@svc/compose`: profile → generated entry → proved bundle → single binary. Never in a binary itself. */
export { build, type BuildOptions, type BuildResult } from "./build.ts";
export { readBuildRecord, type BuildRecord } from "./build-record.ts";
export { profilesOf, readCatalogue, type Catalogue } from "./catalogue.ts";
export { catalogueEntries, entryText, featuresText, generate, type Generated } from "./generate.ts";
export { readManifest, type FeaturePackage, type PackageJson } from "./manifest.ts";
export { buildPage, type Page } from "./page.ts";
export { profileChain, type Budget, type Profile } from "./profile.ts";
export { lines, quiet, type Reporter } from "./reporter.ts";
export { readReleases, type Releases } from "./releases.ts";
export { resolveProfile, type Request, type Selection } from "./select.ts";
export { isStale, type Staleness } from "./stale.ts";
export { distDir, hostTarget, targetName, targetOf, type Target } from "./target.ts";
export { workspaceRoot } from "./workspace.ts";
