/** The log of a process: standard error, and for the daemon the log file too. */
import { type RuntimeLogger, createLogger, openLogFile } from "@svc/runtime";
import type { Home, LoadedConfig } from "@svc/config";
import { systemClock } from "@svc/kit/system-clock";

export interface ServiceLog {
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

/** A lone command's: errors only, and nothing of it is kept. */
export function commandLog(config: LoadedConfig): ServiceLog {
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
