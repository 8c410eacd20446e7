/** The home, its config and a logger: what every command that touches the service begins with. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Composition, SvcError } from "@svc/contract";
import {
  createLogger,
  homeOf,
  type Home,
  type KernelLogger,
  loadConfig,
  type LoadedConfig,
  systemClock,
  writeDefaultConfig,
} from "@svc/kernel";
import type { CommandContext } from "../cli/command.ts";

export interface ServiceContext {
  readonly home: Home;
  readonly composition: Composition;
  readonly config: LoadedConfig;
  readonly log: KernelLogger;
}

/** Throws CONFIG_NOT_FOUND, CONFIG_INVALID and what else loading the config throws. A lone command logs only errors. */
export async function openContext(context: CommandContext, lone = false): Promise<ServiceContext> {
  const home = homeOf(context.env);
  const composition = await context.build.load();
  const config = await loadConfig({
    home,
    ...fileOption(context),
    env: context.env,
    features: composition.features,
    catalogue: composition.catalogue,
  });
  const log = createLogger({
    level: lone ? "error" : config.core.log.level,
    write: (line) => process.stderr.write(`${line}\n`),
    json: !process.stderr.isTTY,
    clock: systemClock,
  });
  log.setSecrets(config.secrets());
  for (const warning of config.warnings) log.warn(warning);
  return { home, composition, config, log };
}

/** Writes the config on the very first run, so that nobody needs a manual to start; tells whether it did. */
export async function prepareHome(context: CommandContext): Promise<boolean> {
  const home = homeOf(context.env);
  if (fileOption(context).file !== undefined || existsSync(home.config)) return false;
  const { features } = await context.build.load();
  try {
    await writeDefaultConfig(home, features);
    return true;
  } catch (error) {
    // Another start of the same moment was quicker; which of the two runs is decided by the home's lock.
    if (error instanceof SvcError && error.code === "CONFIG_EXISTS") return false;
    throw error;
  }
}

/** `--config`; a file named there must exist. */
function fileOption(context: CommandContext): { file?: string } {
  const named = context.options.text("config");
  if (named === undefined) return {};
  if (named.trim() === "") throw new SvcError("USAGE", "--config needs the path of a file.");
  const file = resolve(named);
  if (!existsSync(file))
    throw new SvcError("CONFIG_NOT_FOUND", undefined, { hint: "Check the path given with --config." });
  return { file };
}
