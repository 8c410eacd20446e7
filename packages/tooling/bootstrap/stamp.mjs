// Knows in milliseconds whether node_modules is what the lockfile and the manifests ask for.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const stampFile = join("node_modules", ".svc-install.json");
const inputs = ["pnpm-lock.yaml", "pnpm-workspace.yaml", ".pnpmfile.mjs", ".npmrc", "package.json"];

/**
 * @param {string} checkout
 * @returns {boolean} true when the last finished install was of exactly these inputs and its results are still there
 */
export function isInstalled(checkout) {
  try {
    const stamp = JSON.parse(readFileSync(join(checkout, stampFile), "utf8"));
    return (
      stamp.hash === inputsHash(checkout) &&
      stamp.linked.every((/** @type {string} */ path) => existsSync(join(checkout, path)))
    );
  } catch {
    return false; // no stamp, a torn one, or a manifest that cannot be read: installing again says what is wrong
  }
}

/** Before an install: one that dies half-way must not look finished. @param {string} checkout */
export function clearStamp(checkout) {
  rmSync(join(checkout, stampFile), { force: true });
}

/** @param {string} checkout */
export function writeStamp(checkout) {
  // A package's own node_modules can be deleted alone; without the list its loss would go unseen.
  const linked = workspacePackages(checkout)
    .map((dir) => join(dir, "node_modules"))
    .filter((path) => existsSync(join(checkout, path)));
  linked.push(join("node_modules", ".pnpm"), join("node_modules", ".bin"));
  writeFileSync(join(checkout, stampFile), JSON.stringify({ hash: inputsHash(checkout), linked }));
}

/** @param {string} checkout */
function inputsHash(checkout) {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}`);
  const manifests = workspacePackages(checkout).map((dir) => join(dir, "package.json"));
  for (const file of [...inputs, ...manifests]) {
    const path = join(checkout, file);
    hash.update(`\0${file}\0`);
    if (existsSync(path)) hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}

/**
 * The workspace's package folders, relative to the checkout, sorted.
 * @param {string} checkout
 */
export function workspacePackages(checkout) {
  const yaml = readFileSync(join(checkout, "pnpm-workspace.yaml"), "utf8");
  // Only `  - folder` and `  - folder/*` are used there; a YAML parser would be a dependency before the install.
  const block = /^packages:\n((?: {2}- .*\n)+)/mu.exec(yaml)?.[1] ?? "";
  const patterns = [...block.matchAll(/^ {2}- ["']?([^"'\s]+)["']?/gmu)].map((match) => match[1] ?? "");
  return patterns
    .flatMap((pattern) => {
      if (!pattern.endsWith("/*")) return [pattern];
      const parent = pattern.slice(0, -2);
      return existsSync(join(checkout, parent))
        ? readdirSync(join(checkout, parent)).map((name) => join(parent, name))
        : [];
    })
    .filter((dir) => existsSync(join(checkout, dir, "package.json")))
    .sort();
}
