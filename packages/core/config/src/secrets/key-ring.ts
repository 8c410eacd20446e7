/**
 * The keys of a home: one, and while a rotation is under way the next one beside it. Then either opens what is sealed, and
 * the next one seals, so that whatever is kept from then on outlives the old key.
 */
import type { KeyObject } from "node:crypto";
import { SvcError } from "@svc/contract";
import { isSealed, openSecret, sealSecret } from "./seal.ts";
import { type KeyHome, openSecretKey, readSecretKey, RESTORE, unreadable } from "./secret-key.ts";

export type { KeyHome };

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
