/** `plugins-wasm`, when it is on: a tool for each plugin, and the processes that they run in. */
import type { Contributions, FeatureContext } from "@svc/contract";
import { PluginHost } from "./host/plugin-host.ts";
import type { PluginsConfig } from "./index.ts";
import { pluginTool } from "./plugin-tool.ts";
import { surveyed } from "./survey.ts";

export { survey } from "./survey.ts";

/** A plugin that changes has all of this made anew by a reload; calls that run go on with the old one. */
export function create({ survey, child, clock }: FeatureContext<PluginsConfig>): Contributions {
  const host = new PluginHost({ command: () => child("plugin-host"), clock });
  return {
    tools: surveyed(survey).map((plugin) => pluginTool(plugin, host)),
    shutdown: async () => host.close(),
  };
}
