/** A plugin as a tool. */
import { defineTool, type Tool } from "@svc/contract";
import * as v from "valibot";
import { callServices } from "./host/call-services.ts";
import type { PluginHost } from "./host/plugin-host.ts";
import type { InstalledPlugin } from "./manifest/types.ts";
import { toolNameOf } from "./tool-name.ts";

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
    // Without a host to talk to it computes: it is told something, and answers. What one with hosts does there nobody can tell.
    approval: plugin.allowedHosts.length === 0 ? "auto" : "ask",
    run: ({ input }, context) => host.call(plugin, input, callServices(plugin, context), context.signal),
  });
}

const MAX_INPUT_CHARS = 1_000_000;

function descriptionOf({ description, allowedHosts }: InstalledPlugin): string {
  const reach = allowedHosts.length === 0 ? "It has no network." : `It talks to ${allowedHosts.join(", ")}.`;
  return `${description}\n\nA plugin's tool. ${reach}`;
}
