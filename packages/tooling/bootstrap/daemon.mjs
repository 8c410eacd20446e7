// A daemon of a built binary for the demo and the checks of CI: own home, free port, nothing of our environment.
import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BootstrapError } from "./progress.mjs";

/**
 * @typedef {object} Daemon
 * @property {string} url without a slash at its end
 * @property {string} pairingCode
 * @property {string} home
 * @property {() => string} log everything it printed so far
 * @property {() => Promise<number>} stop SIGTERM, then waits; resolves to the exit code
 */
/** @typedef {{ startMs?: number, stopMs?: number }} Limits how long to wait for the first lines, and for the end */

/**
 * Starts `svc daemon` and waits until it listens; the home is removed after the work, whatever happens.
 * @template T
 * @param {string} binary
 * @param {(daemon: Daemon) => Promise<T>} work
 * @param {Limits} [limits]
 * @returns {Promise<T>}
 */
export async function withDaemon(binary, work, limits = {}) {
  const home = await mkdtemp(join(tmpdir(), "svc-demo-"));
  let log = "";
  // Only what the binary needs: an empty environment shows that nothing of the checkout is used.
  const env = { SVC_HOME: home, SVC__GATEWAY__PORT: "0", PATH: process.env["PATH"] ?? "" };
  const child = spawn(binary, ["daemon"], { cwd: home, env, stdio: ["ignore", "pipe", "pipe"] });
  // Ctrl-C in the middle: nothing of the demo may stay behind.
  const killed = () => {
    child.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  };
  process.once("exit", killed);
  const interrupted = () => process.exit(130);
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.once(signal, interrupted);
  /** @type {Promise<number>} */
  const ended = new Promise((resolve) => {
    child.once("error", (error) => {
      log += `${error.message}\n`;
      resolve(127);
    });
    child.once("close", (code) => resolve(code ?? 137));
  });
  try {
    const seen = await firstLines(child, ended, limits.startMs ?? 20_000, (text) => void (log += text));
    const stop = async () => {
      child.kill("SIGTERM");
      return within(ended, limits.stopMs ?? 40_000, "the daemon did not end after SIGTERM");
    };
    return await work({ ...seen, home, log: () => log, stop });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new BootstrapError(`${message}\n\nWhat the daemon printed:\n${log}`, 1);
  } finally {
    child.kill("SIGKILL");
    await ended;
    process.off("exit", killed);
    for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, interrupted);
    await rm(home, { recursive: true, force: true });
  }
}

/**
 * @param {import("node:child_process").ChildProcessByStdio<null, import("node:stream").Readable, import("node:stream").Readable>} child
 * @param {Promise<number>} ended
 * @param {number} limitMs
 * @param {(text: string) => void} take
 * @returns {Promise<{ url: string, pairingCode: string }>}
 */
function firstLines(child, ended, limitMs, take) {
  let stdout = "";
  /** @type {Promise<{ url: string, pairingCode: string }>} */
  const found = new Promise((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", take);
    child.stdout.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
      take(text);
      stdout += text;
      const url = /listening on (http:\/\/127\.0\.0\.1:\d+)/u.exec(stdout)?.[1];
      const pairingCode = /pairing code.*?\b(\d{6})\b/u.exec(stdout)?.[1];
      if (url && pairingCode) resolve({ url, pairingCode });
    });
    void ended.then((code) => reject(new Error(`the daemon ended before it listened (exit code ${code})`)));
  });
  return within(found, limitMs, "the daemon did not print its address and a pairing code");
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {number} limitMs
 * @param {string} message
 * @returns {Promise<T>}
 */
async function within(promise, limitMs, message) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<never>} */
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${message} within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
