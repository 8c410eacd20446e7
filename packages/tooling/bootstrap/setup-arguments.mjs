// The arguments of setup.sh, setup.ps1 and setup.bat. Wrong ones are all reported at once, each with what was meant.
import { profiles } from "./checkout.mjs";
import { closest } from "./closest.mjs";
import { isFeatureWord, profileFeatures } from "./features.mjs";

/**
 * @typedef {object} SetupRequest
 * @property {"minimal" | "home" | "standard" | "full"} profile
 * @property {string[]} with
 * @property {string[]} without
 * @property {string} [prefix] as given, not resolved
 * @property {boolean} dryRun
 * @property {boolean} json
 * @property {boolean} help
 */

const flags = [
  "--minimal",
  "--home",
  "--standard",
  "--full",
  "--with",
  "--without",
  "--prefix",
  "--dry-run",
  "--json",
  "--help",
];

/**
 * @param {readonly string[]} args
 * @param {readonly string[]} [features] the known names for --with and --without; nothing is checked when empty
 * @returns {{ request: SetupRequest, problems: string[] }} the request is only good when there are no problems
 */
export function parseSetup(args, features = []) {
  /** @type {SetupRequest} */
  const request = { profile: "minimal", with: [], without: [], dryRun: false, json: false, help: false };
  /** @type {string[]} */
  const problems = [];
  /** @type {Set<string>} */
  const chosen = new Set();
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const equals = arg.startsWith("--") ? arg.indexOf("=") : -1;
    const flag = equals < 0 ? arg : arg.slice(0, equals);
    const inline = equals < 0 ? undefined : arg.slice(equals + 1);
    const profile = profiles.find((name) => flag === `--${name}`);
    if (inline !== undefined && flags.includes(flag) && !takesValue(flag)) {
      problems.push(`${flag} takes no value.`);
    } else if (profile) {
      chosen.add(profile);
      request.profile = profile;
    } else if (takesValue(flag)) {
      const next = rest[0];
      const value = inline ?? (next === undefined || next.startsWith("-") ? undefined : rest.shift());
      if (!value?.trim())
        problems.push(`${flag} needs ${flag === "--prefix" ? "a directory" : "feature names, separated by commas"}.`);
      else if (flag === "--prefix") request.prefix = value;
      else request[flag === "--with" ? "with" : "without"].push(...names(value));
    } else if (flag === "--dry-run") request.dryRun = true;
    else if (flag === "--json") request.json = true;
    else if (flag === "--help" || flag === "-h") request.help = true;
    else problems.push(unknown("argument", flag, flags));
  }
  if (chosen.size > 1)
    problems.push(`Choose one profile, not ${[...chosen].map((name) => `--${name}`).join(" and ")}.`);
  if (request.json && !request.dryRun) problems.push("--json prints the plan of --dry-run; give both.");
  for (const name of request.with.filter((feature) => request.without.includes(feature))) {
    problems.push(`"${name}" is in both --with and --without.`);
  }
  const strange = [...request.with, ...request.without].filter(
    (name) => isFeatureWord(name) && !features.includes(name),
  );
  if (features.length > 0) for (const name of new Set(strange)) problems.push(unknown("feature", name, features));
  return { request, problems };
}

/** @param {string} flag */
function takesValue(flag) {
  return flag === "--with" || flag === "--without" || flag === "--prefix";
}

/** PowerShell joins the items of an array argument with spaces. @param {string} value */
function names(value) {
  return value.split(/[\s,]+/u).filter(Boolean);
}

/**
 * @param {string} kind
 * @param {string} given
 * @param {readonly string[]} known
 */
function unknown(kind, given, known) {
  const meant = closest(given, known);
  return `Unknown ${kind} "${given}".${meant ? ` Did you mean ${meant}?` : ""}`;
}

/** @param {string} profile */
function adds(profile) {
  const { adds: there, planned } = profileFeatures(profile);
  return `adds ${there.join(", ")}${planned.length > 0 ? `; not written yet: ${planned.join(", ")}` : ""}`;
}

export const setupHelp = `Builds svc into dist/ exactly as \`pnpm build\` does. Asks nothing.

Usage
  ./setup.sh     [--minimal | --home | --standard | --full] [--with a,b] [--without c] [--prefix <dir>]
  setup.bat      the same flags
  ./setup.ps1    [-Mode Minimal|Home|Standard|Full] [-With a,b] [-Without c] [-Prefix <dir>] [-DryRun] [-Json] [-Help]

  --minimal         the default features (the default)
  --home            ${adds("home")}; npm start builds it
  --standard        ${adds("standard")}
  --full            ${adds("full")}, beside those of --standard
  --with a,b        adds features; the result is dist/custom/svc
  --without a,b     takes features away; the result is dist/custom/svc
  --prefix <dir>    also installs the binary as <dir>/bin/svc
  --dry-run         prints the plan and does nothing
  --json            with --dry-run: the plan as JSON
  --help            this text

Needs Node 20 or newer and npm. Everything else comes from the package registry into node_modules. Outside of this checkout it writes nothing but the package managers' own caches in
your home (npm's and pnpm's), and, with --prefix, that one file.

Examples
  ./setup.sh                                     build dist/minimal/svc
  ./setup.sh --standard --prefix ~/.local        build, then install ~/.local/bin/svc
  ./setup.sh --full --without hardware           build dist/custom/svc
  ./setup.sh --full --dry-run                    only say what would be done

Exit codes: 0 done, 64 wrong flags, 69 something is missing on this machine, 73 the prefix
cannot be written to, anything else: the build failed and says why.
`;
