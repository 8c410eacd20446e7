/** The key of a home's encrypted secrets: 32 bytes as hex in `.secret_key`, readable by its owner only. */
import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { SvcError } from "@svc/contract";
import { createExclusively } from "../exclusive-file.ts";
import type { Home } from "../home.ts";

const KEY_BYTES = 32;

/**
 * With `create`, makes the file when there is none; of two processes that do so at once, both get the one key that was
 * kept. Throws SECRET_UNREADABLE when the file is missing, can't be read or holds no key. A KeyObject shows nothing
 * of itself when it is printed.
 */
export function openSecretKey(home: Pick<Home, "root" | "secretKey">, options: { create: boolean }): KeyObject {
  const text = readKey(home.secretKey) ?? (options.create ? createKey(home) : undefined);
  if (text === undefined) throw unreadable(home, "is missing", "Restore it from a backup, or set the secrets anew.");
  const hex = text.trim();
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw unreadable(home, "does not hold 64 hex digits", "Restore it from a backup.");
  return createSecretKey(hex, "hex");
}

function createKey(home: Pick<Home, "root" | "secretKey">): string | undefined {
  mkdirSync(home.root, { recursive: true, mode: 0o700 });
  createExclusively(home.secretKey, `${randomBytes(KEY_BYTES).toString("hex")}\n`);
  return readKey(home.secretKey);
}

function readKey(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new SvcError("SECRET_UNREADABLE", `${file} can't be read.`, { cause: error });
  }
}

const unreadable = (home: Pick<Home, "secretKey">, what: string, hint: string): SvcError =>
  new SvcError("SECRET_UNREADABLE", `${home.secretKey} ${what}.`, { hint });
