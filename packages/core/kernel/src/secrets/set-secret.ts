/** One secret of the config set without an editor, so that it never stands in a shell's history or in the file in plain text. */
import { SvcError } from "@svc/contract";
import { setConfigValues } from "../config/edit-config.ts";
import { type Environment, overlayEnvironment } from "../config/environment.ts";
import { sectionTables } from "../config/sections.ts";
import { copyValue, keyText, type Path, type Table, valueAt } from "../config/table.ts";
import { assertWritable, writeConfigFile } from "../config/write-config.ts";
import { withChangeLock } from "../config/change-lock.ts";
import { openKeyRing } from "./key-ring.ts";
import { isSealed } from "./seal.ts";
import { openSecretFile, type SecretFile, type SecretFileOptions } from "./secret-file.ts";
import { secretKeyPath } from "./secret-path.ts";

export interface SetSecretOptions extends SecretFileOptions {
  /** As `readKey` takes it: `model.api_key`, `agents.helper.model.api_key`. The file need not have it. */
  readonly key: string;
  readonly value: string;
  readonly env: Environment;
}

export interface SecretSet {
  /** The key as the file spells it. */
  readonly key: string;
  /** False when `secrets.encrypt` is off. */
  readonly sealed: boolean;
  /** The variable that beats the file: what was set is not in force while that one is. */
  readonly beatenBy: string | undefined;
}

/**
 * Throws USAGE for a key that is no secret, a blank value and one that is sealed already; CONFIG_NOT_FOUND, CONFIG_INVALID,
 * CONFIG_CHANGED, CONFIG_UNWRITABLE; SECRET_UNREADABLE when the key file can't be used. Other secrets may be unreadable:
 * this is how they are set anew.
 */
export async function setConfigSecret(options: SetSecretOptions): Promise<SecretSet> {
  const { key, value, home, env, features } = options;
  const path = await secretKeyPath(key, value, features);
  if (value.trim() === "") throw new SvcError("USAGE", "The value is blank, and a blank secret counts as unset.");
  if (isSealed(value)) {
    throw new SvcError("USAGE", "The value is encrypted already.", {
      hint: "Give it as the other side gave it to you.",
    });
  }
  assertWritable((await openSecretFile(options)).file);
  return withChangeLock(home, async () => {
    const file = await openSecretFile(options);
    const { encrypt, beatenBy } = inForce(file, env, path);
    const stored = encrypt ? openKeyRing(home).seal(value) : value;
    const text = await setConfigValues(file.source.text, [{ path, value: stored }]);
    writeConfigFile(file.file, file.source, text);
    return { key: keyText(path), sealed: encrypt, beatenBy };
  });
}

/** The config may be one that can't be loaded: a missing secret may be the reason. */
function inForce({ table, sections }: SecretFile, env: Environment, path: Path) {
  const overlaid = copyValue(table) as Table;
  const byName = new Map(sections.map((section) => [section.name, section]));
  const { origins } = overlayEnvironment(overlaid, env, byName, sectionTables(byName, []));
  return { encrypt: valueAt(overlaid, ["secrets", "encrypt"]) !== false, beatenBy: origins.get(keyText(path)) };
}
