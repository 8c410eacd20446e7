/** Where a command that needs no whole service finds what it needs. */
import type { Home, LoadConfigOptions } from "@svc/config";
import { homeOf } from "@svc/config/home";
import type { CommandContext } from "../../cli/command.ts";
import { fileOption } from "../../cli/config-option.ts";

export interface Place {
  readonly home: Home;
  /** For the commands that read the config. */
  readonly config?: Omit<LoadConfigOptions, "home" | "text">;
}

/** With the config. */
export async function placeOf(context: CommandContext): Promise<Required<Place>> {
  const { features, catalogue } = await context.build.load();
  return { home: homeOf(context.env), config: { env: context.env, features, catalogue, ...fileOption(context) } };
}
