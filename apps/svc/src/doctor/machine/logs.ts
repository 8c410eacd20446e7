/** Whether the log can be written. */
import { constants } from "node:fs";
import { access, lstat } from "node:fs/promises";
import { logFilePath } from "@svc/kernel";
import { type Finding, ok, warning } from "../finding.ts";
import type { Check } from "./check.ts";

export const logs: Check = {
  id: "logs",
  async find(machine) {
    const { config } = await machine.config();
    if (config?.core.log.file === false) return [ok("logs", "No log file is kept (log.file = false).")];
    const { logsDir } = machine.home;
    const file = logFilePath(machine.home);
    return [(await unwritable(logsDir, file)) ?? ok("logs", `The log is ${file}.`)];
  },
};

async function unwritable(folder: string, file: string): Promise<Finding | undefined> {
  const stats = await lstat(folder).catch(() => undefined);
  // The daemon makes it.
  if (stats === undefined) return undefined;
  const inFile = await lstat(file).catch(() => undefined);
  if (inFile !== undefined && !inFile.isFile())
    return warning("logs", `${file} is no plain file: no log is kept.`, "move it away");
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    if (inFile) await access(file, constants.W_OK);
    return undefined;
  } catch {
    return warning("logs", `${folder} can't be written: no log is kept.`, "make it writable for the daemon's user");
  }
}
