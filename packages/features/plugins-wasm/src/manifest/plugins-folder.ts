/** Where the plugins are. */
import { resolve, sep } from "node:path";
import { SvcError } from "@svc/contract";

const DEFAULT_PLUGINS_FOLDER = "plugins";

/**
 * Absolute. Throws CONFIG_INVALID for the workspace of the agents and what is below: they could approve plugins for themselves.
 */
export function pluginsFolderOf(homeFolder: string, pluginsDir: string = DEFAULT_PLUGINS_FOLDER): string {
  const folder = resolve(homeFolder, pluginsDir);
  const workspace = resolve(homeFolder, "workspace");
  if (folder !== workspace && !folder.startsWith(workspace + sep)) return folder;
  throw new SvcError("CONFIG_INVALID", "plugins.plugins_dir is in the workspace, where the agents write.", {
    hint: "Name a folder outside of every workspace.",
  });
}
