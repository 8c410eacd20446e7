/** The config that a first run writes: it works as it stands, offline, and shows where to go on. */
import { lstatSync } from "node:fs";
import { type FeatureDefinition, SvcError } from "@svc/contract";
import { createExclusively, homeUnwritable, makeFolder, replaceFile } from "./home-files.ts";
import type { Home } from "./home.ts";
import { configJsonSchema } from "./json-schema.ts";
import { tomlText } from "./toml.ts";

export interface DefaultConfig {
  readonly host?: string;
  readonly port?: number;
  readonly model?: DefaultModel;
  /** Value of `X-Webhook-Secret`; without it callers of /webhook need the pairing token alone. */
  readonly webhookSecret?: string;
  /** The build has passkeys: they are offered. */
  readonly passkeys?: boolean;
}

export interface DefaultModel {
  readonly provider: "builtin" | "openai" | "anthropic" | "openai-compatible";
  readonly name?: string;
  readonly baseUrl?: string;
  readonly apiKey?: string;
}

export function defaultConfigText(options: DefaultConfig = {}): string {
  const {
    host = "127.0.0.1",
    port = 42617,
    model = { provider: "builtin" },
    webhookSecret,
    passkeys = false,
  } = options;
  return `#:schema ./config.schema.json
# The configuration of svc. After a change: svc config check. Everything that can be set: svc config show.

[gateway]
host = ${tomlText(host)}
port = ${port}

[model]
# builtin answers offline and needs no key; openai, anthropic and openai-compatible are the others.
provider = ${tomlText(model.provider)}
${setOrShown("name", model.name)}
${setOrShown("base_url", model.baseUrl)}
${setOrShown("api_key", model.apiKey)}

[security.policy]
# What the agent may do by itself: read_only, supervised (a person is asked), full.
autonomy = "supervised"

[channels_config.webhook]
# With a secret, callers of POST /webhook must send it as X-Webhook-Secret.
${setOrShown("secret", webhookSecret)}
${passkeys ? PASSKEYS : ""}`;
}

const PASSKEYS = `
[security.webauthn]
# Passkeys: sign in by a finger, a face or a PIN, at http://localhost, or at gateway.public_url where that is https.
enabled = true
sign_in = true
`;

export function writeDefaultConfig(
  home: Home,
  features: readonly FeatureDefinition[],
  options: DefaultConfig = {},
): Promise<void> {
  return writeFirstConfig(home, features, defaultConfigText(options));
}

/**
 * Makes the home (0700), its workspace (0700), the schema for editors, and last the config (0600): where there is a
 * config, everything is there. Throws CONFIG_EXISTS and leaves that config alone, also when another process was
 * quicker, and HOME_UNWRITABLE.
 */
export async function writeFirstConfig(
  home: Home,
  features: readonly FeatureDefinition[],
  text: string,
): Promise<void> {
  assertNoConfig(home);
  for (const folder of [home.root, home.workspace]) {
    await makeFolder(folder).catch((error: unknown) => {
      throw homeUnwritable(home.root, error);
    });
  }
  await writeConfigSchema(home, features);
  if (!written(home, () => createExclusively(home.config, text))) throw configExists(home);
}

/** For whoever asks questions before writing. Throws CONFIG_EXISTS. */
export function assertNoConfig(home: Home): void {
  if (written(home, () => isThere(home.config))) throw configExists(home);
}

/** The schema that `#:schema` in the config points at, for the features of this build. Throws HOME_UNWRITABLE. */
export async function writeConfigSchema(home: Home, features: readonly FeatureDefinition[]): Promise<void> {
  const schema = await configJsonSchema(features);
  written(home, () => replaceFile(home.configSchema, `${JSON.stringify(schema, null, 2)}\n`));
}

/** A symbolic link counts, wherever it leads. */
const isThere = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;

function written<T>(home: Home, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw homeUnwritable(home.root, error);
  }
}

const configExists = (home: Home): SvcError =>
  new SvcError("CONFIG_EXISTS", `${home.config} exists already.`, { hint: "Edit it, or move it away first." });

const setOrShown = (key: string, value: string | undefined): string =>
  value === undefined ? `# ${key} = ""` : `${key} = ${tomlText(value)}`;
