/**
 * `svc secrets rotate`: a new key, and all that is sealed sealed anew with it.
 *
 *   make .secret_key.next → config → vault → config again, if an editor put an old text back → .next becomes .secret_key
 *
 * Killed at any instant, everything can still be read: while both files are there a key ring opens with either and seals
 * with the next one. Whoever rotates again goes on with the next key that is there.
 */
import { existsSync, renameSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { SvcError } from "@svc/contract";
import { assertWritable, withChangeLock } from "../write-config.ts";
import { syncDirectory } from "../home-files.ts";
import { type KeyRing, isSealed, makeSecretKey, nextKeyFile, openKeyRing, readSecretKey } from "./key-ring.ts";
import {
  assertReadable,
  openSecretFile,
  rewriteSecrets,
  type SecretFileOptions,
  writeSecretFile,
} from "./secret-file.ts";

/** The store's vault: sealed texts beside the config's. */
export interface Vault {
  /** Seals everything anew, all or nothing; resolves once it is on disk. */
  reseal(open: (sealed: string) => string, seal: (text: string) => string): Promise<void>;
}

export interface RotateOptions extends SecretFileOptions {
  readonly vault: Vault;
}

export interface Rotated {
  /** Keys of the config whose values were sealed anew. */
  readonly sealed: readonly string[];
  /** True when an interrupted rotation was finished: the new key is the one that it made. */
  readonly resumed: boolean;
}

/**
 * The caller holds the home: nobody else may keep what is sealed with the old key. Throws SECRET_UNREADABLE (in a ConfigError that names every key) before
 * anything is changed when something of the config can't be opened, CONFIG_NOT_FOUND, CONFIG_INVALID, CONFIG_CHANGED,
 * CONFIG_UNWRITABLE and what the vault rejects with. Whatever it throws, everything that could be read can be read, and
 * another rotation finishes this one.
 */
export function rotateSecretKey(options: RotateOptions): Promise<Rotated> {
  return withChangeLock(options.home, async () => {
    const steps = rotation(options);
    for (;;) {
      const { done, value } = await steps.next();
      if (done) return value;
    }
  });
}

/** The same step by step; the home is sound between any two. */
export async function* rotation(options: RotateOptions): AsyncGenerator<string, Rotated, undefined> {
  const { home, vault } = options;
  const next = nextKeyFile(home);
  const files = configFiles(options);
  for (const file of files) await assertRotatable({ ...options, file });
  const resumed = existsSync(next);
  yield "checked";
  makeSecretKey(next);
  yield "key made";
  const ring = openKeyRing(home);
  const sealed: string[] = [];
  for (const file of files) sealed.push(...(await resealed({ ...options, file }, ring)));
  yield "config sealed";
  await vault.reseal(ring.open, ring.seal);
  yield "vault sealed";
  // An editor knows no lock. What it saved from before would be lost with the old key.
  for (const file of files) await resealed({ ...options, file }, ring);
  yield "config sealed again";
  if (!readSecretKey(next)) throw new SvcError("SECRET_UNREADABLE", `${next} is missing.`, { hint: "Rotate again." });
  renameSync(next, home.secretKey);
  syncDirectory(dirname(home.secretKey));
  return { sealed, resumed };
}

/** Also the home's own config, when another was named: it is sealed with the same key. */
function configFiles({ home, file }: RotateOptions): string[] {
  const named = resolve(file ?? home.config);
  return named !== home.config && existsSync(home.config) ? [named, home.config] : [named];
}

async function assertRotatable(options: SecretFileOptions): Promise<void> {
  const config = await openSecretFile(options);
  const { open } = openKeyRing(options.home);
  await assertReadable(config, open);
  const { keys } = await rewriteSecrets(config, (stored) => (isSealed(stored) ? "" : undefined));
  if (keys.length > 0) assertWritable(config.file);
}

async function resealed(options: SecretFileOptions, ring: KeyRing): Promise<readonly string[]> {
  const config = await openSecretFile(options);
  await assertReadable(config, ring.open);
  const { text, keys } = await rewriteSecrets(config, (stored) =>
    isSealed(stored) && !ring.isCurrent(stored) ? ring.seal(ring.open(stored)) : undefined,
  );
  if (keys.length > 0) await writeSecretFile(config, text, config.table, ring.open);
  return keys;
}
