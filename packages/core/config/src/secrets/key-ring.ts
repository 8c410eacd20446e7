/**
 * Secrets at rest, and the keys of a home that seal and open them: one key, and while a rotation is under way the next one beside it. Then either opens what is sealed, and
 * the next one seals, so that whatever is kept from then on outlives the old key.
 */
import type { KeyObject } from "node:crypto";
import { SvcError } from "@svc/contract";
import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { createExclusively, homeUnwritable } from "../home-files.ts";
import type { Home } from "../home.ts";
import { nodeCrypto } from "../hashed-secret.ts";

export interface KeyRing {
  /** Text that is not sealed passes through. Throws SECRET_UNREADABLE, and says what is wrong with which file. */
  open(stored: string): string;
  /** Makes the key file when there is none. Throws SECRET_UNREADABLE. */
  seal(text: string): string;
  /** Whether `stored` is sealed with the key that seals now: any other is about to go, or gone. */
  isCurrent(stored: string): boolean;
}

export const nextKeyFile = (home: KeyHome): string => `${home.secretKey}.next`;

/**
 * Reads no file before it must. Open one for each use and let it go: a ring that is kept goes on sealing with a key that a
 * rotation has replaced.
 */
export function openKeyRing(home: KeyHome): KeyRing {
  let read: Keys | undefined;
  const keys = (): Keys => (read ??= readKeys(home));
  const sealingKey = (): KeyObject => {
    const { key, fault } = sealing(keys());
    if (fault) throw fault;
    if (key) return key;
    read = [{}, { key: openSecretKey(home, { create: true }) }];
    return sealingKey();
  };
  return {
    open: (stored) => (isSealed(stored) ? openWith(keys(), stored, home) : stored),
    seal: (text) => sealSecret(sealingKey(), text),
    isCurrent: (stored) => {
      const { key } = sealing(keys());
      return key !== undefined && opened(key, stored) !== undefined;
    },
  };
}

interface KeyFile {
  readonly key?: KeyObject | undefined;
  readonly fault?: SvcError;
}

/** The next one first. It is also read first: read last, it could have become the other one meanwhile. */
type Keys = readonly [next: KeyFile, key: KeyFile];

const readKeys = (home: KeyHome): Keys => [readKey(nextKeyFile(home)), readKey(home.secretKey)];

const sealing = ([next, key]: Keys): KeyFile => (next.key || next.fault ? next : key);

function readKey(file: string): KeyFile {
  try {
    return { key: readSecretKey(file) };
  } catch (error) {
    if (error instanceof SvcError) return { fault: error };
    throw error;
  }
}

function openWith(keys: Keys, stored: string, home: KeyHome): string {
  for (const { key } of keys) {
    const text = key && opened(key, stored);
    if (text !== undefined) return text;
  }
  const fault = keys.find((each) => each.fault)?.fault;
  if (fault) throw fault;
  if (keys.every((each) => each.key === undefined)) throw unreadable(home.secretKey, "is missing", RESTORE);
  throw unreadable(home.secretKey, "is not the key that encrypted this, or the value is damaged", RESTORE);
}

function opened(key: KeyObject, stored: string): string | undefined {
  try {
    return isSealed(stored) ? openSecret(key, stored) : undefined;
  } catch {
    return undefined;
  }
}

/** The key of a home's encrypted secrets: 32 bytes as hex in `.secret_key`, open to its owner only. */
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

const RESTORE = "Restore it from a backup, or set the secrets anew: svc secrets set <key>.";
const REPLACE = "Restore it from a backup, or move it away and set the secrets anew: svc secrets set <key>.";

const unreadable = (file: string, what: string, hint: string, cause?: unknown): SvcError =>
  new SvcError("SECRET_UNREADABLE", `${file} ${what}.`, { hint, cause });

/**
 * Secrets at rest: `enc2:` and hex of nonce (12 bytes), ciphertext, tag (16 bytes); ChaCha20-Poly1305 (RFC 8439). Text without the prefix
 * is plain and passes through, so that a value typed in by hand works.
 */
const PREFIX = "enc2:";
const CIPHER = "chacha20-poly1305";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export const isSealed = (stored: string): boolean => stored.startsWith(PREFIX);

export function sealSecret(key: KeyObject, text: string): string {
  const { createCipheriv, randomBytes } = nodeCrypto();
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  const sealed = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
  return PREFIX + Buffer.concat(sealed).toString("hex");
}

/** Throws SECRET_UNREADABLE for what was tampered with, cut off, or sealed with another key. */
export function openSecret(key: KeyObject, stored: string): string {
  if (!isSealed(stored)) return stored;
  const hex = stored.slice(PREFIX.length);
  // Buffer.from stops at the first character that is no hex digit and says nothing.
  if (!/^(?:[0-9a-f]{2})+$/i.test(hex) || hex.length < 2 * (NONCE_BYTES + TAG_BYTES)) {
    throw new SvcError("SECRET_UNREADABLE", "An encrypted value is cut off or malformed.");
  }
  const bytes = Buffer.from(hex, "hex");
  try {
    const decipher = nodeCrypto().createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(text);
  } catch {
    throw new SvcError("SECRET_UNREADABLE");
  }
}
