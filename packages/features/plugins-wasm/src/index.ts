/** `plugins-wasm`: tools from WASM plugins, and `svc plugin`. */
import { defineFeature } from "@svc/contract";
import * as v from "valibot";

export const pluginsConfig = v.strictObject({
  enabled: v.optional(v.pipe(v.boolean(), v.description("Give agents the tools of installed plugins.")), true),
  plugins_dir: v.optional(
    v.pipe(v.string(), v.nonEmpty(), v.description("Folder of the plugins, absolute or below the home.")),
    "plugins",
  ),
});
export type PluginsConfig = v.InferOutput<typeof pluginsConfig>;

export default defineFeature({
  id: "plugins-wasm",
  section: "plugins",
  config: pluginsConfig,
  load: () => import("./plugins.ts"),
  commands: { plugin: () => import("./command/plugin.ts") },
});
