/** The home, its config and a logger: what every command that touches the service begins with. */
import { existsSync } from "node:fs";
import { type Home, homeOf, loadConfig, type LoadedConfig, writeDefaultConfig } from "@svc/config";
import type { ConfigEditor } from "@svc/config/settings";
import { type Composition, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { createLogger, openLogFile, type RuntimeLogger } from "@svc/runtime";
import type { CommandContext } from "../cli/command.ts";
import { fileOption } from "../cli/options.ts";

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

/** Throws what loading the config throws. `forCommand`: for one command, beside whatever daemon there is. */
export async function openContext(context: CommandContext, forCommand = false): Promise<OpenedContext> {
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
  const { log, follow } = forCommand ? commandLog(config) : daemonLog(home, config);
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

/** The log of a process: standard error, and for the daemon the log file too. */
interface ServiceLog {
  readonly log: RuntimeLogger;
  /** Level and file as this config says, from the next line on. */
  follow(config: LoadedConfig): void;
}

/** The daemon's. */
export function daemonLog(home: Home, config: LoadedConfig): ServiceLog {
  const log = logAt(config.core.log.level);
  const file = openLogFile(home, limitsOf(config), systemClock);
  const follow = (next: LoadedConfig): void => {
    log.setLevel(next.core.log.level);
    file.setLimits(limitsOf(next));
    log.setFile(next.core.log.file ? file : undefined);
  };
  log.setSecrets(config.secrets());
  follow(config);
  return { log, follow };
}

/** Of one command: errors only, and nothing of it is kept. */
function commandLog(config: LoadedConfig): ServiceLog {
  const log = logAt("error");
  log.setSecrets(config.secrets());
  return { log, follow: () => {} };
}

const logAt = (level: LoadedConfig["core"]["log"]["level"]): RuntimeLogger =>
  createLogger({
    level,
    write: (line) => process.stderr.write(`${line}\n`),
    json: !process.stderr.isTTY,
    clock: systemClock,
    later: soon,
  });

/** What lines that warn of nothing wait for others: a busy service writes a hundred at once then, and pays for one write. */
const SOON_MS = 20;

/** In a moment; with the process where that ends first, however it does, but by SIGKILL. */
function soon(flush: () => void): void {
  const run = (): void => {
    cancel();
    process.off("exit", run);
    flush();
  };
  const cancel = systemClock.after(SOON_MS, run);
  process.on("exit", run);
}

const limitsOf = ({ core: { log } }: LoadedConfig): { maxBytes: number; maxFiles: number } => ({
  maxBytes: log.max_file_mb * 1024 * 1024,
  maxFiles: log.max_files,
});
