/** One key of the config set without an editor: `svc config set`. What would not load is not written. */
import { resolve } from "node:path";
import { SvcError } from "@svc/contract";
import { assertWritable, withChangeLock, writeConfigFile } from "./write-config.ts";
import { readConfigFile } from "./config-file.ts";
import { setConfigValues } from "./edit-config.ts";
import { allowedValues, expectation, readText } from "./schema-node.ts";
import { loadConfig, type LoadConfigOptions } from "./load-config.ts";
import type { LoadedConfig } from "./loaded-config.ts";
import type { ConfigValue } from "./toml.ts";
import { typedKey } from "./key-text.ts";
import type { SchemaKey } from "./sections.ts";

export interface SetKeyOptions extends Omit<LoadConfigOptions, "text"> {
  /** As in the file: `gateway.port`, `prices."gpt-4.1".input_per_million`. */
  readonly key: string;
  /** As a variable of the environment would have it. */
  readonly value: string;
}

export interface KeySet {
  /** The key as problems spell it. */
  readonly key: string;
  /** The config as it loads now. */
  readonly config: LoadedConfig;
}

/**
 * Throws USAGE for a key that is none, one that is a secret, and a value that it does not take; ConfigError for a config
 * that would not load; CONFIG_CHANGED and CONFIG_UNWRITABLE.
 */
export async function setConfigKey(options: SetKeyOptions): Promise<KeySet> {
  const { path, node, name } = await typedKey(options.key, options.features);
  if (node.marks.secret) {
    throw new SvcError("USAGE", `${name} is a secret, which is no argument for a command.`, {
      hint: `Set it with: svc secrets set ${options.key}`,
    });
  }
  const value = valueOf(name, node, options.value);
  const config = await editConfigFile(options, (text) => setConfigValues(text, [{ path, value }]));
  return { key: name, config };
}

/**
 * The config's file changed in place, and what it loads as then. Throws what `edit` throws; ConfigError for a config that would not
 * load; CONFIG_CHANGED and CONFIG_UNWRITABLE; then nothing is changed.
 */
export async function editConfigFile(
  options: Omit<LoadConfigOptions, "text">,
  edit: (text: string) => Promise<string>,
): Promise<LoadedConfig> {
  const file = resolve(options.file ?? options.home.config);
  // What is missing or read-only is told as that, before a lock is looked for.
  readConfigFile(file);
  assertWritable(file);
  return withChangeLock(options.home, async () => {
    const before = readConfigFile(file);
    const text = await edit(before.text);
    const config = await loadConfig({ ...options, text });
    if (text !== before.text) writeConfigFile(file, before, text);
    return config;
  });
}

function valueOf(name: string, node: SchemaKey["node"], text: string): ConfigValue {
  const value = readText(node, text)?.value;
  if (isSettable(value)) return value;
  if (node.entries || node.type === "record") {
    throw new SvcError("USAGE", `${name} is a table; set its keys one by one.`);
  }
  const allowed = allowedValues(node);
  throw new SvcError("USAGE", `${name} must be ${expectation(node)}${allowed === undefined ? "" : ` (${allowed})`}.`);
}

const isSettable = (value: unknown): value is ConfigValue =>
  Array.isArray(value)
    ? value.every(isSettable)
    : typeof value === "string" || typeof value === "number" || typeof value === "boolean";
