/** `svc plugin list | install | remove | info`. */
import type { FeatureCommandContext, Logger } from "@svc/contract";
import type { PluginsConfig } from "../index.ts";
import { pluginsFolderOf } from "../installed.ts";

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
      return (await import("./show.ts")).info(plugin);
    default:
      return (await import("./show.ts")).list(plugin);
  }
}

/** After a change: turns the feature on if it is off, and reloads a running daemon. */
export interface InForce {
  /** The config turns plugins on. */
  readonly enabled: boolean;
  /** A sentence. */
  readonly reload: string;
}

/** Throws what the daemon has against it; what was changed stays so. */
export async function putIntoForce(context: PluginContext): Promise<InForce> {
  if (!(await isOn(context))) {
    const reload =
      "Plugins are off in the config, so that it does not run. Turn them on: svc config set plugins.enabled true";
    return { enabled: false, reload };
  }
  return { enabled: true, reload: await context.reload() };
}

async function isOn({ isEnabled, options, json, confirm, enable }: PluginContext): Promise<boolean> {
  if (isEnabled) return true;
  const isAsked = !options.flag("yes") && !json;
  if (isAsked && (await confirm("Plugins are off in the config. Turn them on?")) !== true) return false;
  if (json && !options.flag("yes")) return false;
  await enable();
  return true;
}

/** Of commands that show all there is to say themselves. */
export const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
