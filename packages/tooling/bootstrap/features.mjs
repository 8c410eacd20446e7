// The names that --with and --without know, read from manifests and profiles before any package is installed. The
// composer judges them again; here a typing mistake costs no download.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "./checkout.mjs";

/**
 * Ids and flags of features that exist or are planned, and npm packages that the root manifest names, sorted.
 * @param {string} [checkout]
 * @returns {string[]}
 */
export function featureNames(checkout = root) {
  const names = new Set([...existing(checkout), ...planned(checkout)]);
  const manifest = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) names.add(name);
  return [...names].sort();
}

/**
 * A folder or a scoped package can be a feature as well; only the composer can tell.
 * @param {string} name
 */
export function isFeatureWord(name) {
  return /^[A-Za-z0-9_-]+$/u.test(name);
}

/** @param {string} checkout */
function existing(checkout) {
  const folder = join(checkout, "packages", "features");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((id) => {
    const file = join(folder, id, "package.json");
    if (!existsSync(file)) return [];
    const flag = JSON.parse(readFileSync(file, "utf8")).svc?.flag;
    return typeof flag === "string" ? [id, flag] : [id];
  });
}

/** @param {string} checkout */
function planned(checkout) {
  const file = join(checkout, "profiles", "planned.toml");
  if (!existsSync(file)) return [];
  // Table names and flags only: plain keys on lines of their own.
  const matches = readFileSync(file, "utf8").matchAll(/^(?:\[([a-z0-9-]+)\]|flag = "([a-z0-9-]+)")/gmu);
  return [...matches].map((match) => match[1] ?? match[2] ?? "");
}

/**
 * What a profile adds to the one that it extends, and what of it is not written yet.
 * @param {string} profile
 * @param {string} [checkout]
 * @returns {{ base: string | undefined, adds: string[], planned: string[] }} ids of features; flags of those that are planned
 */
export function profileFeatures(profile, checkout = root) {
  const text = readFileSync(join(checkout, "profiles", `${profile}.toml`), "utf8");
  const flags = new Set(listIn(text, "planned").map((id) => flagOf(id, checkout)));
  const base = /^extends = "([^"]+)"/mu.exec(text)?.[1];
  return { base, adds: listIn(text, "features"), planned: [...flags] };
}

/**
 * @param {string} text of a profile
 * @param {string} key
 */
function listIn(text, key) {
  const items = new RegExp(`^${key} = \\[([^\\]]*)\\]`, "mu").exec(text)?.[1] ?? "";
  return [...items.matchAll(/"([^"]+)"/gu)].map((match) => match[1] ?? "");
}

/**
 * @param {string} id of a planned feature
 * @param {string} checkout
 */
function flagOf(id, checkout) {
  const text = readFileSync(join(checkout, "profiles", "planned.toml"), "utf8");
  return new RegExp(`^\\[${id}\\]\\nflag = "([^"]+)"`, "mu").exec(text)?.[1] ?? id;
}
