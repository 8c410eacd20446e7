// Brings pnpm, the pinned Node and every package from the registry, with nothing on the machine but Node and npm.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bin, pinnedNode, pins, root } from "./checkout.mjs";
import { provideLibatomic } from "./libatomic.mjs";
import { withLock } from "./lock.mjs";
import { BootstrapError } from "./progress.mjs";
import { run, shimLine } from "./run.mjs";
import { clearStamp, isInstalled, writeStamp } from "./stamp.mjs";

/** Pauses before the second and third try of an install whose connection was dropped. */
const retryPausesMs = [2_000, 10_000];

/**
 * Installs if anything changed since the last time; otherwise returns within milliseconds.
 * @param {{ progress: import("./progress.mjs").Progress, checkout?: string }} options
 * @throws {BootstrapError} 69 when the machine or the registry cannot give what is needed
 */
export async function install({ progress, checkout = root }) {
  provideLibatomic(checkout); // also when nothing is to install: the same checkout may be used out of another container
  if (isInstalled(checkout) && existsSync(pinnedNode(checkout))) {
    progress.line("packages: up to date");
    return;
  }
  const waiting = () => progress.line("packages: another install is running in this checkout; waiting for it");
  await withLock(join(checkout, "dist", ".install.lock"), () => installNow(progress, checkout), waiting);
}

/**
 * @param {import("./progress.mjs").Progress} progress
 * @param {string} checkout
 */
async function installNow(progress, checkout) {
  if (isInstalled(checkout)) return;
  clearStamp(checkout);
  const result = await progress.step(
    "packages",
    async ({ note }) => {
      for (let attempt = 0; ; attempt++) {
        const last = await runPnpm(checkout, note);
        const pauseMs = retryPausesMs[attempt];
        if (last.code === 0 || pauseMs === undefined || !isDroppedConnection(last.output)) return last;
        note("the connection to the registry dropped; trying again");
        await sleep(pauseMs);
      }
    },
    ({ code }) => ({ ok: code === 0, text: code === 0 ? "installed" : "failed" }),
  );
  if (result.code !== 0) throw new BootstrapError(installHint(result.output), 69);
  requireRunningNode(checkout);
  writeStamp(checkout);
}

/**
 * @param {string} checkout
 * @param {(line: string) => void} note
 */
async function runPnpm(checkout, note) {
  const { pnpm } = pins(checkout);
  const flags = [
    "install",
    "--frozen-lockfile",
    "--optional", // the pinned Node is one
    "--config.confirmModulesPurge=false",
    "--config.fetchRetryMaxtimeout=4000",
  ];
  const local = bin("pnpm", checkout);
  const fits = existsSync(local) && versionOf(local, checkout) === pnpm;
  const npx = process.platform === "win32" ? "npx.cmd" : "npx";
  const [command, before] = fits ? [local, []] : [npx, ["-y", `pnpm@${pnpm}`]];
  return run(command, [...before, ...flags], { cwd: checkout, env: installEnv(checkout), onLine: note });
}

/**
 * @param {string} command
 * @param {string} checkout
 */
function versionOf(command, checkout) {
  const isShim = process.platform === "win32";
  const options = { cwd: checkout, encoding: /** @type {const} */ ("utf8"), shell: isShim };
  const started = isShim
    ? spawnSync(shimLine(command, ["--version"]), options)
    : spawnSync(command, ["--version"], options);
  return started.stdout?.trim();
}

/**
 * The environment of builds and tests: the pinned tools come first.
 * @param {string} [checkout]
 * @returns {NodeJS.ProcessEnv}
 */
export function toolsEnv(checkout = root) {
  const path = [join(checkout, "node_modules", ".bin"), process.env["PATH"] ?? ""].join(delimiter);
  return { ...installEnv(checkout), PATH: path };
}

/**
 * @param {string} checkout
 * @returns {NodeJS.ProcessEnv}
 */
function installEnv(checkout) {
  /** @type {NodeJS.ProcessEnv} */
  const env = {
    ...process.env,
    // Packages that compile take the headers out of the Node package instead of downloading them.
    npm_config_nodedir: join(checkout, "node_modules", pins(checkout).nodePackage),
    // For npx. The defaults wait ten seconds first, and minutes in the end.
    npm_config_fetch_retries: "3",
    npm_config_fetch_retry_mintimeout: "1000",
    npm_config_fetch_retry_maxtimeout: "4000",
    TURBO_TELEMETRY_DISABLED: "1",
    DO_NOT_TRACK: "1",
  };
  // With "production" a package manager leaves the tools out, and everything after it fails in odd ways.
  delete env["NODE_ENV"];
  return env;
}

/**
 * A connection that was cut is worth another try; a registry that is not there at all has been tried long enough by the
 * package manager itself, and a person without a network should not wait three times as long to be told.
 * @param {string} output
 */
export function isDroppedConnection(output) {
  return isConnectionFailure(output) && !/ECONNREFUSED|ENOTFOUND|connection refused|dns error/iu.test(output);
}

/** @param {string} output */
export function isConnectionFailure(output) {
  const node = /ECONN(?:RESET|REFUSED|ABORTED)|ETIMEDOUT|EAI_AGAIN|ENOTFOUND|ERR_SOCKET_TIMEOUT|socket hang up/iu;
  const pnpm = /META_FETCH_FAIL|NETWORK_ERROR|error sending request|connection (?:closed|reset)/iu;
  return node.test(output) || pnpm.test(output);
}

/** @param {string} output */
function installHint(output) {
  const tail = output.trimEnd().split("\n").slice(-25).join("\n");
  const why = isConnectionFailure(output)
    ? "The package registry could not be reached. Check the network (and `npm config get registry`), then run the same command again."
    : "The packages could not be installed; the package manager's last lines are above.";
  return `${tail}\n\n${why}`;
}

/** The last word on the machine: does the pinned Node start? @param {string} checkout */
function requireRunningNode(checkout) {
  const node = pinnedNode(checkout);
  const wanted = pins(checkout).node;
  if (!existsSync(node)) {
    throw new BootstrapError(
      `There is no Node ${wanted} for ${process.platform}-${process.arch} in this lockfile; tried are linux-x64 and linux-arm64.`,
      69,
    );
  }
  const started = spawnSync(node, ["--version"], { encoding: "utf8" });
  if (started.status === 0 && started.stdout.trim() === `v${wanted}`) return;
  throw new BootstrapError(
    `The pinned Node ${wanted} does not start here:\n${started.stderr || String(started.error ?? "")}`,
    69,
  );
}
