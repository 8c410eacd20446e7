/** `svc plugin info`: all there is to know of one, and whether it runs now. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { EXIT, SvcError } from "@svc/contract";
import * as v from "valibot";
import { installedAt } from "../install/installed.ts";
import { pluginName } from "../manifest/manifest.ts";
import { readPlugin } from "../manifest/read-plugins.ts";
import type { InstalledPlugin } from "../manifest/types.ts";
import { toolNameOf } from "../tool-name.ts";
import type { PluginCommand, PluginContext } from "./plugin.ts";
import { unknownPlugin } from "./remove.ts";
import { hostsText, limitsText, pluginJson, rows, sizeText } from "./shown.ts";

/** Throws PLUGIN_UNKNOWN, and what is wrong with a plugin that is left out. */
export const info: PluginCommand = async (context) => {
  const { pluginsFolder, subject: name } = context;
  const installed = v.is(pluginName, name) ? await installedAt(pluginsFolder, name) : undefined;
  if (!installed) throw unknownPlugin();
  const plugin = await readable(join(pluginsFolder, name), name);
  const { approval } = installed;
  // It was changed between the two looks at it.
  if (!approval) throw unknownPlugin();
  const { manifest, source, approved_at: approvedAt } = approval;
  const { size } = await stat(plugin.wasmFile);
  const running = await runState(context);
  if (context.json) {
    const { folder, wasmFile } = plugin;
    context.printJson({ ...pluginJson(name, approval), bytes: size, folder, wasm_file: wasmFile, running });
    return EXIT.ok;
  }
  context.print(
    rows([
      ["plugin", `${name} ${manifest.version}`],
      ["does", manifest.description],
      ["tool", toolNameOf(name)],
      ["runs", RUN_STATES[running]],
      ["from", source],
      ["approved", approvedAt],
      ["wasm", `${sizeText(size)}, SHA-256 ${manifest.sha256}`],
      ["reaches", hostsText(manifest.allowed_hosts)],
      ["limits", limitsText(manifest)],
      ["folder", plugin.folder],
    ]),
  );
  return EXIT.ok;
};

async function readable(folder: string, name: string): Promise<InstalledPlugin> {
  try {
    return await readPlugin(folder, name);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    throw new SvcError(error.code, `${error.message} It is left out.`, {
      hint: `Install it again, or take it away: svc plugin remove ${name}`,
      cause: error,
    });
  }
}

const RUN_STATES = {
  yes: "yes, the running daemon has it",
  stopped: "no: no daemon runs",
  off: "no: plugins are off in the config",
  waiting: "no: the running daemon does not have it; see: svc reload, svc status",
} as const;

async function runState({ subject, isEnabled, runningTools }: PluginContext): Promise<keyof typeof RUN_STATES> {
  const tools = await runningTools();
  if (tools?.includes(toolNameOf(subject))) return "yes";
  if (!isEnabled) return "off";
  return tools === undefined ? "stopped" : "waiting";
}
