/** The key of a home's encrypted secrets: 32 bytes as hex in `.secret_key`, open to its owner only. */
import type { KeyObject } from "node:crypto";
import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { SvcError } from "@svc/contract";
import { createExclusively } from "../exclusive-file.ts";
import type { Home } from "../home.ts";
import { homeUnwritable } from "../home-unwritable.ts";
import { nodeCrypto } from "../node-crypto.ts";

export type KeyHome = Pick<Home, "secretKey">;

const KEY_BYTES = 32;
/** More than a key and its line break: whatever is longer is no key, and need not be read. */
const MOST_BYTES = 256;
const ANY_OF_OTHERS = 0o077;

/**
 * With `create`, makes the file when there is none; of two processes that do so at once, both get the one key that was
 * kept. Throws SECRET_UNREADABLE when the file is missing, can't be read, is open to others or holds no key. A KeyObject
 * shows nothing of itself when it is printed.
 */
export function openSecretKey(home: KeyHome, options: { create: boolean }): KeyObject {
  const known = readSecretKey(home.secretKey);
  if (known) return known;
  if (options.create) makeSecretKey(home.secretKey);
  const made = options.create ? readSecretKey(home.secretKey) : undefined;
  if (!made) throw unreadable(home.secretKey, "is missing", RESTORE);
  return made;
}

/** Leaves a file that is there alone. Throws HOME_UNWRITABLE. */
export function makeSecretKey(file: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    createExclusively(file, `${nodeCrypto().randomBytes(KEY_BYTES).toString("hex")}\n`);
  } catch (error) {
    throw homeUnwritable(dirname(file), error);
  }
}

/** Undefined when there is no such file. Throws SECRET_UNREADABLE. */
export function readSecretKey(file: string): KeyObject | undefined {
  const hex = readText(file)?.trim();
  if (hex === undefined) return undefined;
  if (hex === "") throw unreadable(file, "is empty", REPLACE);
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw unreadable(file, "holds no key (64 hex digits)", REPLACE);
  return nodeCrypto().createSecretKey(hex, "hex");
}

function readText(file: string): string | undefined {
  let handle: number | undefined;
  try {
    // A FIFO in its place must not keep whoever reads it waiting for a writer.
    handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (process.platform !== "win32" && fstatSync(handle).mode & ANY_OF_OTHERS) {
      throw unreadable(file, "is open to other users", `Run: chmod 600 ${file}`);
    }
    const bytes = Buffer.alloc(MOST_BYTES);
    return bytes.toString("latin1", 0, readSync(handle, bytes));
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unreadable(file, "can't be read", "Make it readable for this user.", cause);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

export const RESTORE = "Restore it from a backup, or set the secrets anew: svc secrets set <key>.";
const REPLACE = "Restore it from a backup, or move it away and set the secrets anew: svc secrets set <key>.";

export const unreadable = (file: string, what: string, hint: string, cause?: unknown): SvcError =>
  new SvcError("SECRET_UNREADABLE", `${file} ${what}.`, { hint, cause });
