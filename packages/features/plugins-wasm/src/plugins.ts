/** `plugins-wasm`, when it is on: a tool for each plugin, and the processes that they run in. */
import {
  type Contributions,
  defineTool,
  type FeatureContext,
  type FeatureSurroundings,
  type Json,
  type Tool,
} from "@svc/contract";
import * as v from "valibot";
import type { PluginsConfig } from "./index.ts";
import { type InstalledPlugin, pluginsFolderOf, readPlugins } from "./installed.ts";
import { toolNameOf } from "./manifest.ts";
import { PluginHost } from "./plugin-host.ts";
import { callServices } from "./requests.ts";

/** A plugin that changes has all of this made anew by a reload; calls that run go on with the old one. */
export function create({ survey, child, clock }: FeatureContext<PluginsConfig>): Contributions {
  const host = new PluginHost({ command: () => child("plugin-host"), clock });
  return {
    tools: surveyed(survey).map((plugin) => pluginTool(plugin, host)),
    shutdown: async () => host.close(),
  };
}

/** A plugin as a tool. */
export function pluginTool(plugin: InstalledPlugin, host: PluginHost): Tool {
  return defineTool({
    name: toolNameOf(plugin.name),
    description: descriptionOf(plugin),
    input: v.strictObject({
      input: v.pipe(
        v.string(),
        v.maxLength(MAX_INPUT_CHARS, `at most ${MAX_INPUT_CHARS} characters`),
        v.description("The text that the plugin is given."),
      ),
    }),
    // A plugin without hosts only computes. The effect of requests to a host is unknown, so those calls need an approval.
    approval: plugin.allowedHosts.length === 0 ? "auto" : "ask",
    run: ({ input }, context) => host.call(plugin, input, callServices(plugin, context), context.signal),
  });
}

const MAX_INPUT_CHARS = 1_000_000;

function descriptionOf({ description, allowedHosts }: InstalledPlugin): string {
  const reach = allowedHosts.length === 0 ? "It has no network." : `It talks to ${allowedHosts.join(", ")}.`;
  return `${description}\n\nA plugin's tool. ${reach}`;
}

// What the feature is made of beside its section: the plugins as they are installed, hashes and approved hosts included.

/** A changed plugin rebuilds the feature; an unusable one is logged and left out. */
export async function survey({ config, homeFolder, log }: FeatureSurroundings<PluginsConfig>): Promise<Json> {
  const { plugins } = await readPlugins(pluginsFolderOf(homeFolder, config.plugins_dir), log);
  return plugins.map((plugin) => ({ ...plugin, limits: { ...plugin.limits } }));
}

/** What `survey` told, as it told it; nothing where it was not asked. */
const surveyed = (answer: Json): readonly InstalledPlugin[] => (answer ?? []) as unknown as readonly InstalledPlugin[];
