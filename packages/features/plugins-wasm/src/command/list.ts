/** `svc plugin list`: what is installed, and what is left out. */
import { basename } from "node:path";
import { EXIT } from "@svc/contract";
import { readPlugins } from "../manifest/read-plugins.ts";
import type { Plugins } from "../manifest/types.ts";
import { toolNameOf } from "../tool-name.ts";
import type { PluginCommand } from "./plugin.ts";
import { hostsText } from "./shown.ts";
import { SILENT } from "./silent.ts";

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
