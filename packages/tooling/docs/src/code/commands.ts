/** The commands of `svc` as data. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** What a page needs of an entry of apps/svc/src/command-table. */
export interface Command {
  /** The word, then `<required>` and `[optional]` arguments. */
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly (readonly [flags: string, description: string])[];
  readonly examples: readonly string[];
  readonly actions?: readonly string[];
}

/**
 * By path: no package depends on the app, and its table is data. A command's code is behind a `load` that is not called here.
 */
export async function readCommands(root: string): Promise<readonly Command[]> {
  const table = pathToFileURL(join(root, "apps/svc/src/command-table.ts")).href;
  const { COMMANDS } = (await import(table)) as { COMMANDS: readonly Command[] };
  return COMMANDS;
}
