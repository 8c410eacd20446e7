// Where things are in the checkout, and what the root manifest pins. Read on the machine's own Node, before any install.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the checkout, absolute. */
export const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

/** The build profiles that setup knows, smallest first. */
export const profiles = Object.freeze(/** @type {const} */ (["minimal", "home", "standard", "full"]));

/**
 * The versions the root manifest pins.
 * @param {string} [checkout]
 * @returns {{ pnpm: string, node: string, nodePackage: string }}
 */
export function pins(checkout = root) {
  const manifest = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  const nodePackage = nodePackageName(process.platform, process.arch);
  return {
    pnpm: manifest.devDependencies.pnpm,
    node: manifest.optionalDependencies[nodePackage] ?? "",
    nodePackage,
  };
}

/**
 * The registry package that holds the Node binary and headers of one platform.
 * @param {string} platform as in process.platform
 * @param {string} arch as in process.arch
 */
function nodePackageName(platform, arch) {
  const os = platform === "win32" ? "win" : platform;
  // The plain name is taken by another package for this one platform.
  return `node-${platform === "darwin" && arch === "arm64" ? "bin-" : ""}${os}-${arch}`;
}

/**
 * The pinned Node's executable. Not `node_modules/.bin/node`: on Windows that is a .cmd shim, which cannot be spawned
 * without a shell.
 */
export function pinnedNode(checkout = root) {
  const file = process.platform === "win32" ? "node.exe" : "node";
  return join(checkout, "node_modules", pins(checkout).nodePackage, "bin", file);
}

/**
 * A tool's entry in `node_modules/.bin`.
 * @param {string} name
 */
export function bin(name, checkout = root) {
  return join(checkout, "node_modules", ".bin", process.platform === "win32" ? `${name}.cmd` : name);
}

/**
 * The binary that a build leaves behind.
 * @param {string} profile a profile's name, or "custom"
 */
export function builtBinary(profile, checkout = root) {
  return join(checkout, "dist", profile, process.platform === "win32" ? "svc.exe" : "svc");
}
