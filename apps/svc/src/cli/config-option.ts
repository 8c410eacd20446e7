/** `--config`: another file than the home's own. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { SvcError } from "@svc/contract";
import type { CommandContext } from "./command.ts";

/** A file named there must exist: throws CONFIG_NOT_FOUND, and USAGE for a blank name. */
export function fileOption({ options }: Pick<CommandContext, "options">): { file?: string } {
  const named = options.text("config");
  if (named === undefined) return {};
  if (named.trim() === "") throw new SvcError("USAGE", "--config needs the path of a file.");
  const file = resolve(named);
  if (!existsSync(file))
    throw new SvcError("CONFIG_NOT_FOUND", undefined, { hint: "Check the path given with --config." });
  return { file };
}
