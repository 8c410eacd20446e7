// Runs the daemon as if it had replaced this process: same terminal, its exit code, signals passed on.
import { spawn } from "node:child_process";
import { signalNumber } from "./run.mjs";

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ sameSignalMs?: number }} [options] for tests, which must not depend on speed
 * @returns {Promise<number>} the child's exit code, 128 + n when a signal ended it
 */
export function foreground(command, args, { sameSignalMs = 400 } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], {
      stdio: "inherit",
      // A session of its own (POSIX): in ours, the terminal's SIGINT would reach the daemon beside the one passed on
      // here, and a second signal means "stop now" to it, so Ctrl-C would never drain.
      detached: process.platform !== "win32",
    });
    // One Ctrl-C reaches us up to twice, from the terminal and again from npm.
    /** @type {Map<NodeJS.Signals, number>} */
    const lastMs = new Map();
    /** @param {NodeJS.Signals} signal */
    const forward = (signal) => {
      const nowMs = performance.now();
      const same = nowMs - (lastMs.get(signal) ?? Number.NEGATIVE_INFINITY) < sameSignalMs;
      lastMs.set(signal, nowMs);
      // The terminal is gone: in the foreground that is the end, whatever else the daemon takes SIGHUP for.
      if (!same) child.kill(signal === "SIGHUP" ? "SIGTERM" : signal);
    };
    // npm hands a SIGTERM to its shell only, and both are gone then; without this the daemon would run on unseen.
    const parent = process.ppid;
    const orphaned = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(orphaned); // once: a second signal would cut the drain short
      forward("SIGTERM");
    }, 500);
    const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);
    for (const signal of signals) process.on(signal, forward);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      clearInterval(orphaned);
      for (const name of signals) process.off(name, forward);
      resolve(code ?? 128 + signalNumber(signal));
    });
  });
}
