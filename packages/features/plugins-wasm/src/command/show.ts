/** `svc plugin list`: installed plugins, and those that are left out. */
import { EXIT, SvcError } from "@svc/contract";
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import * as v from "valibot";
import { compareVersions, type PluginPackage } from "../install/package.ts";
import { type Installed, installedAt } from "../install/place.ts";
import { type Approval, type InstalledPlugin, type Plugins, readPlugin, readPlugins } from "../installed.ts";
import { type Manifest, pluginName, toolNameOf } from "../manifest.ts";
import { type PluginCommand, type PluginContext, SILENT } from "./plugin.ts";
import { unknownPlugin } from "./remove.ts";

export const list: PluginCommand = async ({ pluginsFolder, isEnabled, json, print, printJson }) => {
  const found = await readPlugins(pluginsFolder, SILENT);
  if (json) printJson(listJson(found, isEnabled));
  else print(listText(found, isEnabled));
  return EXIT.ok;
};

function listText({ plugins, problems }: Plugins, isEnabled: boolean): string {
  const width = Math.max(0, ...plugins.map(({ name, version }) => name.length + version.length + 1));
  const lines = [
    ...plugins.map(
      ({ name, version, description, allowedHosts }) =>
        `${`${name} ${version}`.padEnd(width)}  ${description}\n  reaches ${hostsText(allowedHosts)}`,
    ),
    ...problems.map(({ folder, code, problem }) => `${basename(folder)}  LEFT OUT (${code}): ${problem}`),
  ];
  if (lines.length === 0) return "no plugin is installed\nInstall one: svc plugin install <folder-or-url>";
  return [
    ...lines,
    ...(isEnabled ? [] : ["Plugins are off in the config. Turn them on: svc config set plugins.enabled true"]),
  ].join("\n");
}

const listJson = ({ plugins, problems }: Plugins, enabled: boolean): unknown => ({
  enabled,
  plugins: plugins.map(({ name, version, description, sha256, allowedHosts }) => ({
    name,
    tool: toolNameOf(name),
    version,
    description,
    sha256,
    allowed_hosts: allowedHosts,
  })),
  problems: problems.map(({ folder, code, problem }) => ({ folder, code, problem })),
});

// `svc plugin info`: all there is to know of one, and whether it runs now.

/** Throws PLUGIN_UNKNOWN, or the fault of a plugin that is left out. */
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

// Plugins as a person and as a script sees them.

/** The permissions that need consent. */
export function shownPackage({ manifest, wasm, source }: PluginPackage, before: Installed | undefined): string {
  return rows([
    ["plugin", `${manifest.name} ${manifest.version}`],
    ["does", manifest.description],
    ["from", source],
    ["wasm", `${sizeText(wasm.byteLength)}, SHA-256 ${manifest.sha256}`],
    ["reaches", hostsText(manifest.allowed_hosts)],
    ["limits", limitsText(manifest)],
    ...changesOf(manifest, source, before).map((change) => ["CHANGES", change] as const),
  ]);
}

/** Differences from the earlier consent, each as a sentence. */
function changesOf(manifest: Manifest, source: string, before: Installed | undefined): string[] {
  if (before === undefined) return [];
  const was = before.approval;
  if (was === undefined) return ["in its place is something that was never approved"];
  const added = manifest.allowed_hosts.filter((host) => !was.manifest.allowed_hosts.includes(host));
  return [
    versionChange(was.manifest, manifest),
    ...(added.length > 0 ? [`it could not reach these so far: ${added.join(", ")}`] : []),
    ...(was.source === source ? [] : [`it was installed from another place: ${was.source}`]),
    ...(before.isIntact ? [] : ["what is installed is not what was approved, and does not run"]),
  ];
}

function versionChange(was: Manifest, manifest: Manifest): string {
  const order = compareVersions(was.version, manifest.version);
  if (order < 0) return `an upgrade from ${was.version}`;
  if (order > 0) return `a DOWNGRADE from ${was.version}`;
  return was.sha256 === manifest.sha256 ? "the same version, said otherwise" : "the same version, but another file";
}

const hostsText = (hosts: readonly string[]): string =>
  hosts.length === 0 ? "nothing on the network" : hosts.join(", ");

const limitsText = ({ limits }: Manifest): string =>
  `${limits.memory_mb} MiB of memory, ${limits.timeout_ms / 1000} s a call, ${limits.max_output_kb} KiB of output`;

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1_048_576 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

export function pluginJson(name: string, { manifest, source, approved_at }: Approval): Record<string, unknown> {
  return { ...manifest, tool: toolNameOf(name), source, approved_at };
}

/** Labels in a column of their own. */
const rows = (all: readonly (readonly [label: string, text: string])[]): string =>
  all.map(([label, text]) => `${label.padEnd(10)}${text}`).join("\n");
