/** What the feature is made of beside its section: the plugins as they are installed, hashes and approved hosts included. */
import type { FeatureSurroundings, Json } from "@svc/contract";
import type { PluginsConfig } from "./index.ts";
import { pluginsFolderOf } from "./manifest/plugins-folder.ts";
import { readPlugins } from "./manifest/read-plugins.ts";
import type { InstalledPlugin } from "./manifest/types.ts";

/** A plugin that is another one than before has the feature made anew; one that can't be used is told and left out. */
export async function survey({ config, homeFolder, log }: FeatureSurroundings<PluginsConfig>): Promise<Json> {
  const { plugins } = await readPlugins(pluginsFolderOf(homeFolder, config.plugins_dir), log);
  return plugins.map((plugin) => ({ ...plugin, limits: { ...plugin.limits } }));
}

/** What `survey` told, as it told it; nothing where it was not asked. */
export const surveyed = (told: Json): readonly InstalledPlugin[] =>
  (told ?? []) as unknown as readonly InstalledPlugin[];
