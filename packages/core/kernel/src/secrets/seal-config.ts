/** `secrets.encrypt`: what stands in the config in plain text is sealed in place. */
import { hasPlainSecret } from "../config/secret-values.ts";
import { assertWritable } from "../config/write-config.ts";
import { withCurrentKey } from "./current-key.ts";
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
  const plain = new Set<string>();
  const keys = await withCurrentKey(options.home, async (ring, made) => {
    const file = await openSecretFile(options);
    const open = (stored: string): string => made.get(stored) ?? ring.open(stored);
    if (made.size === 0 && !hasPlainSecret(file.table, file.sections)) return [];
    await assertReadable(file, open);
    assertWritable(file.file);
    const rewritten = await rewriteSecrets(file, (stored) => {
      if (isSealed(stored) && (ring.isCurrent(stored) || !made.has(stored))) return undefined;
      const text = open(stored);
      plain.add(text);
      const sealed = ring.seal(text);
      made.set(sealed, text);
      return sealed;
    });
    if (rewritten.keys.length > 0) await writeSecretFile(file, rewritten.text, file.table, open);
    return rewritten.keys;
  });
  if (keys.length === 0) return { sealed: [], stillIn: [] };
  const { source } = await openSecretFile(options);
  return { sealed: keys, stillIn: linesWith(source.text, [...plain]) };
}

/** Short ones stand in a text by chance. */
const SHORTEST = 8;

function linesWith(text: string, secrets: readonly string[]): number[] {
  const long = secrets.filter((secret) => secret.length >= SHORTEST);
  const lines = text.split("\n").map((line, index) => (long.some((secret) => line.includes(secret)) ? index + 1 : 0));
  return lines.filter((line) => line > 0);
}
