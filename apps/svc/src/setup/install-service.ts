/** The last step: the service as one of the system's, where this build has a command for that. */
import { commandWord, parseWords } from "../cli/options.ts";
import { COMMANDS } from "../cli/table/index.ts";
import type { Setup } from "./setup.ts";

const entry = () => COMMANDS.find((each) => commandWord(each) === "service");

export const canInstall = (): boolean => entry()?.actions?.some((action) => action.startsWith("install")) === true;

/** `svc service install`, as if it had been typed. Throws what it throws. */
export async function installService({ context }: Setup): Promise<number> {
  const command = entry()!;
  const { run } = await command.load();
  return run({ ...context, ...parseWords(command, ["install"]) });
}
