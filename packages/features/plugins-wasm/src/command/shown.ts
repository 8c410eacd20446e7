/** Plugins as a person and as a script sees them. */
import type { Installed } from "../install/installed.ts";
import { compareVersions } from "../install/compare-versions.ts";
import type { PluginPackage } from "../install/package.ts";
import type { Approval } from "../manifest/approval.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { toolNameOf } from "../tool-name.ts";

/** What is to be agreed to. */
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

/** What is other than it was agreed to before, each as a sentence. */
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

export const hostsText = (hosts: readonly string[]): string =>
  hosts.length === 0 ? "nothing on the network" : hosts.join(", ");

export const limitsText = ({ limits }: Manifest): string =>
  `${limits.memory_mb} MiB of memory, ${limits.timeout_ms / 1000} s a call, ${limits.max_output_kb} KiB of output`;

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1_048_576 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

export function pluginJson(name: string, { manifest, source, approved_at }: Approval): Record<string, unknown> {
  return { ...manifest, tool: toolNameOf(name), source, approved_at };
}

/** Labels in a column of their own. */
export const rows = (all: readonly (readonly [label: string, text: string])[]): string =>
  all.map(([label, text]) => `${label.padEnd(10)}${text}`).join("\n");
