// What a set-up will do, as data: shown by --dry-run, and nothing else is done.
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { composerArguments } from "./build.mjs";
import { profileFeatures } from "./features.mjs";
import { builtBinary, pinnedNode, pins, root } from "./checkout.mjs";
import { isInstalled } from "./stamp.mjs";

/**
 * @typedef {object} Plan
 * @property {string} profile
 * @property {{ name: string, what: string, upToDate?: boolean }[]} steps in order
 * @property {string[]} missing flags of the profile's features that are not written yet
 * @property {string} binary relative to the checkout, with forward slashes
 * @property {string} [installsTo] absolute
 */

/**
 * @param {import("./setup-arguments.mjs").SetupRequest} request
 * @param {{ checkout?: string, cwd?: string }} [where] cwd: what a relative --prefix starts from
 * @returns {Plan}
 */
export function planSetup(request, { checkout = root, cwd = process.cwd() } = {}) {
  const { pnpm, node } = pins(checkout);
  const custom = request.with.length > 0 || request.without.length > 0;
  const binary = relative(checkout, builtBinary(custom ? "custom" : request.profile, checkout)).replaceAll("\\", "/");
  const upToDate = isInstalled(checkout) && existsSync(pinnedNode(checkout));
  /** @type {Plan["steps"]} */
  const steps = [];
  steps.push({
    name: "packages",
    what: `pnpm ${pnpm}, Node ${node} and the packages of pnpm-lock.yaml into node_modules`,
    upToDate,
  });
  steps.push({ name: "build", what: `pnpm build ${composerArguments(request).join(" ")}  ->  ${binary}` });
  /** @type {Plan} */
  const plan = { profile: request.profile, steps, missing: plannedIn(request.profile, checkout), binary };
  if (request.prefix === undefined) return plan;
  const installsTo = installPath(request.prefix, cwd);
  steps.push({ name: "install", what: `${binary}  ->  ${installsTo}` });
  return { ...plan, installsTo };
}

/**
 * @param {string} prefix
 * @param {string} [cwd]
 */
export function installPath(prefix, cwd = process.cwd()) {
  return join(resolve(cwd, prefix), "bin", process.platform === "win32" ? "svc.exe" : "svc");
}

/** @param {Plan} plan */
export function planText(plan) {
  const lines = plan.steps.map(
    ({ name, what, upToDate }, index) => `  ${index + 1}. ${name.padEnd(9)} ${what}${upToDate ? " (up to date)" : ""}`,
  );
  const outside = plan.installsTo
    ? `Outside of this checkout: ${plan.installsTo}, and the package managers' caches.`
    : "Outside of this checkout: nothing but the package managers' caches.";
  const missing =
    plan.missing.length > 0 ? `Not in it, because it is not written yet: ${plan.missing.join(", ")}.\n` : "";
  return `Plan (dry run, nothing is done):\n${lines.join("\n")}\n${missing}${outside}\n`;
}

/**
 * With those of the profiles that it extends.
 * @param {string} profile
 * @param {string} checkout
 * @returns {string[]}
 */
function plannedIn(profile, checkout) {
  const { planned, base } = profileFeatures(profile, checkout);
  return [...(base === undefined ? [] : plannedIn(base, checkout)), ...planned];
}
