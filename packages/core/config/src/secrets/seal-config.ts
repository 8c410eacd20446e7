/** `secrets.encrypt`: what stands in the config in plain text is sealed in place. */
import { hasPlainSecret } from "../secret-values.ts";
import { assertWritable } from "../write-config.ts";
import { withChangeLock } from "../change-lock.ts";
import { openKeyRing } from "./key-ring.ts";
import { isSealed } from "./seal.ts";
import {
  assertReadable,
  openSecretFile,
  rewriteSecrets,
  type SecretFileOptions,
  writeSecretFile,
} from "./secret-file.ts";

export interface SealedConfig {
  /** The keys whose values were sealed. */
  readonly sealed: readonly string[];
  /** Lines of the file where one of these values still stands: a comment, or a key that is no secret. */
  readonly stillIn: readonly number[];
}

/**
 * Seals every secret of the file that is plain, whatever `secrets.encrypt` says, and makes the key file when there is none.
 * Throws CONFIG_NOT_FOUND, CONFIG_INVALID, CONFIG_CHANGED (somebody else was quicker), CONFIG_UNWRITABLE (read-only: the
 * secrets stay plain), and SECRET_UNREADABLE for what is sealed and can't be opened: a key made beside a lost one would
 * hide that it can still be found.
 */
export async function sealConfigFile(options: SecretFileOptions): Promise<SealedConfig> {
  const { file, table, sections } = await openSecretFile(options);
  if (!hasPlainSecret(table, sections)) return { sealed: [], stillIn: [] };
  assertWritable(file);
  return withChangeLock(options.home, () => sealed(options));
}

async function sealed(options: SecretFileOptions): Promise<SealedConfig> {
  const file = await openSecretFile(options);
  const ring = openKeyRing(options.home);
  await assertReadable(file, ring.open);
  const plain: string[] = [];
  const { text, keys } = await rewriteSecrets(file, (stored) => {
    if (isSealed(stored)) return undefined;
    plain.push(stored);
    return ring.seal(stored);
  });
  if (keys.length > 0) await writeSecretFile(file, text, file.table, ring.open);
  return { sealed: keys, stillIn: linesWith(text, plain) };
}

/** Short ones stand in a text by chance. */
const SHORTEST = 8;

function linesWith(text: string, secrets: readonly string[]): number[] {
  const long = secrets.filter((secret) => secret.length >= SHORTEST);
  const lines = text.split("\n").map((line, index) => (long.some((secret) => line.includes(secret)) ? index + 1 : 0));
  return lines.filter((line) => line > 0);
}
