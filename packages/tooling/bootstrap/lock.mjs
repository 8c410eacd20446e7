// One install or build at a time: `npm start` and `npm test` in two terminals must not write node_modules together.
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Runs work while holding the lock file. A lock whose process is gone (killed, power cut) is taken over.
 * @template T
 * @param {string} path
 * @param {() => Promise<T>} work
 * @param {() => void} [onWait] called once when another process holds it
 * @returns {Promise<T>}
 */
export async function withLock(path, work, onWait = () => {}) {
  mkdirSync(dirname(path), { recursive: true });
  let announced = false;
  while (!tryLock(path)) {
    if (!announced) onWait();
    announced = true;
    await sleep(200);
  }
  const release = () => rmSync(path, { force: true });
  process.once("exit", release); // a signal ends us by process.exit: the lock must go too
  try {
    return await work();
  } finally {
    process.off("exit", release);
    release();
  }
}

/** @param {string} path */
function tryLock(path) {
  const mine = `${path}.${process.pid}`;
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, path); // atomic, and never seen without its content
    return true;
  } catch {
    removeIfDead(path, `${mine}.dead`);
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

/**
 * @param {string} path
 * @param {string} aside
 */
function removeIfDead(path, aside) {
  const holder = holderOf(path);
  if (holder === undefined || isAlive(holder)) return;
  try {
    // Moved away and looked at again: another waiter may have taken over the same dead lock a moment ago.
    renameSync(path, aside);
    const moved = holderOf(aside);
    if (moved !== undefined && isAlive(moved)) linkSync(aside, path);
  } catch {
    // somebody else was faster
  } finally {
    rmSync(aside, { force: true });
  }
}

/** @param {string} path @returns {number | undefined} undefined: gone meanwhile */
function holderOf(path) {
  try {
    const pid = Number(readFileSync(path, "utf8"));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM"; // alive, another user's
  }
}
