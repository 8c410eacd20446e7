/** What a binary is made from, as hashes by group, so that a build that would change nothing is not done again. */
import { createHash, type Hash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Catalogue } from "./catalogue.ts";
import { RELEASES_FILE } from "./releases.ts";
import type { Selection } from "./select.ts";
import type { Source } from "./source.ts";
import { targetName } from "./target.ts";
import { packageDirs, slashed } from "./workspace.ts";

/** Group of inputs → SHA-256. */
export type InputHashes = Readonly<Record<string, string>>;

export function inputHashes(catalogue: Catalogue, selection: Selection, source: Source): InputHashes {
  const { root } = catalogue;
  const core = packageDirs(join(root, "packages/core")).map((name) => join(root, "packages/core", name));
  const features = selection.features.filter(({ external }) => !external).map(({ dir }) => dir);
  const externals = selection.features.filter(({ external }) => external).map(({ dir }) => dir);
  const sources = [join(root, "apps/svc"), ...core, ...features];
  return {
    sources: hashFiles(
      root,
      sources.flatMap((dir) => [join(dir, "src"), join(dir, "package.json")]),
    ),
    "features from outside": hashFiles(root, externals),
    page: inputsOfPage(root),
    lockfile: hashFiles(root, [join(root, "pnpm-lock.yaml")]),
    profile: hashText([
      {
        ...selection,
        features: selection.features.map(({ manifest, packageName, version, dir }) => [
          manifest,
          packageName,
          version,
          slashed(root, dir),
        ]),
      },
      [...catalogue.features.values()].map(({ manifest }) => manifest),
      [...catalogue.planned.values()],
      [...catalogue.profiles.values()].map(({ name, features, planned }) => ({ name, features, planned })),
    ]),
    composer: hashFiles(root, [
      join(root, "packages/tooling/compose/src"),
      join(root, "packages/tooling/bootstrap/atomic-exchange.mjs"),
      join(root, "tsconfig.base.json"),
      join(root, RELEASES_FILE),
    ]),
    commit: hashText(source.commit),
    target: hashText([targetName(selection.target), process.version]),
  };
}

/** What the page is made from. Its libraries and tools are in the lockfile. */
export function inputsOfPage(root: string): string {
  const own = ["src", "public", "index.html", "vite.config.ts", "package.json"];
  return hashFiles(root, [
    ...own.map((name) => join(root, "apps/dashboard", name)),
    join(root, "pnpm-lock.yaml"),
    join(root, "packages/tooling/compose/src/page.ts"),
  ]);
}

/** Contents and relative names; tests and installed packages are not inputs. */
function hashFiles(root: string, paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) addPath(hash, root, path);
  return hash.digest("hex");
}

function addPath(hash: Hash, root: string, path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) {
    hash.update(`${slashed(root, path)} absent\n`);
  } else if (stat.isDirectory()) {
    for (const name of readdirSync(path).sort()) {
      if (name !== "node_modules" && name !== "test" && !name.startsWith(".")) addPath(hash, root, join(path, name));
    }
  } else if (stat.isFile()) {
    hash.update(`${slashed(root, path)} ${stat.size}\n`).update(readFileSync(path));
  }
}

function hashText(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
