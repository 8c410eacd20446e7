/** The home, its config and a logger: what every command that touches the service begins with. */
import { existsSync } from "node:fs";
import { type Composition, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { type Home, type LoadedConfig, homeOf, loadConfig, writeDefaultConfig } from "@svc/config";
import type { ConfigEditor } from "@svc/config/settings";
import type { CommandContext } from "../cli/command.ts";
import { fileOption } from "../cli/config-option.ts";
import { commandLog, daemonLog, type ServiceLog } from "./service-log.ts";

export interface ServiceContext extends ServiceLog {
  readonly home: Home;
  readonly composition: Composition;
  /** Reads the config anew. Throws CONFIG_NOT_FOUND, CONFIG_INVALID and what else loading it throws. */
  readonly load: () => Promise<LoadedConfig>;
  /** The config's file as the page edits it. */
  readonly editor: () => Promise<ConfigEditor>;
  /** Changes the config's file. Throws as `editConfigFile`; then nothing is changed. */
  readonly edit: (change: (text: string) => Promise<string>) => Promise<LoadedConfig>;
}

export interface OpenedContext extends ServiceContext {
  /** As it was when the context was opened; a reload makes another (`Service.config`). */
  readonly config: LoadedConfig;
}

/** Throws what loading the config throws. `lone`: for one command, beside whatever daemon there is. */
export async function openContext(context: CommandContext, lone = false): Promise<OpenedContext> {
  const home = homeOf(context.env);
  const composition = await context.build.load();
  const { features, catalogue } = composition;
  const file = fileOption(context);
  const options = { home, ...file, env: context.env, features, catalogue };
  const load = (): Promise<LoadedConfig> => loadConfig(options);
  const edit: ServiceContext["edit"] = async (change) => {
    const { editConfigFile } = await import("@svc/config");
    return editConfigFile(options, change);
  };
  const editor = async (): Promise<ConfigEditor> => {
    const settings = await import("@svc/config/settings");
    return new settings.ConfigEditor({ ...options, now: () => systemClock.now() });
  };
  const config = await load();
  const { log, follow } = lone ? commandLog(config) : daemonLog(home, config);
  for (const warning of config.warnings) log.warn(warning);
  return { home, composition, log, follow, load, edit, editor, config };
}

/** The feature that passkeys come with. */
export const PASSKEYS = "webauthn";

/** Writes the config on the very first run, so that nobody needs a manual to start; tells whether it did. */
export async function prepareHome(context: CommandContext): Promise<boolean> {
  const home = homeOf(context.env);
  if (fileOption(context).file !== undefined || existsSync(home.config)) return false;
  const { features } = await context.build.load();
  try {
    await writeDefaultConfig(home, features, { passkeys: features.some(({ id }) => id === PASSKEYS) });
    return true;
  } catch (error) {
    // Another start of the same moment was quicker; which of the two runs is decided by the home's lock.
    if (error instanceof SvcError && error.code === "CONFIG_EXISTS") return false;
    throw error;
  }
}
