/** `svc plugin list | install | remove | info`. */
import type { FeatureCommandContext } from "@svc/contract";
import type { PluginsConfig } from "../index.ts";
import { pluginsFolderOf } from "../manifest/plugins-folder.ts";

export type PluginCommand = (context: PluginContext) => Promise<number>;

export interface PluginContext extends FeatureCommandContext<PluginsConfig> {
  /** Absolute. */
  readonly pluginsFolder: string;
  /** What follows the action's word. */
  readonly subject: string;
  readonly json: boolean;
}

/** The words are those of the table of commands, which lets no other through. */
export async function run(context: FeatureCommandContext<PluginsConfig>): Promise<number> {
  const [action, subject = ""] = context.args;
  const pluginsFolder = pluginsFolderOf(context.homeFolder, context.config?.plugins_dir);
  const plugin: PluginContext = { ...context, pluginsFolder, subject, json: context.options.flag("json") };
  switch (action) {
    case "install":
      return (await import("./install.ts")).install(plugin);
    case "remove":
      return (await import("./remove.ts")).remove(plugin);
    case "info":
      return (await import("./info.ts")).info(plugin);
    default:
      return (await import("./list.ts")).list(plugin);
  }
}
