/** What an install has before anyone agreed to it: in memory, checked, nothing of it on the disk. */
import { SvcError } from "@svc/contract";
import { hashOf } from "../installed.ts";
import { type Manifest, readManifest } from "../manifest.ts";

export interface PluginPackage {
  readonly manifest: Manifest;
  /** plugin.toml, as it came. */
  readonly toml: Uint8Array;
  readonly wasm: Uint8Array;
  /** For a person, and for the record: a folder, or a URL without its query, which may be a secret. */
  readonly source: string;
}

/** A folder's or an archive's files. */
export interface PluginFiles {
  readonly toml: Uint8Array;
  /** Rejects with PLUGIN_INVALID where it is missing of that name. */
  wasm(name: string): Promise<Uint8Array>;
}

/** Throws PLUGIN_INVALID; PLUGIN_CHANGED where the wasm file is another than plugin.toml says. */
export async function readPackage(files: PluginFiles, source: string): Promise<PluginPackage> {
  const manifest = readManifest(files.toml);
  const wasm = await files.wasm(manifest.wasm);
  if (hashOf(wasm) !== manifest.sha256) {
    throw new SvcError("PLUGIN_CHANGED", "The wasm file's SHA-256 is not the one in plugin.toml.", {
      hint: "If you built the plugin, write the file's current hash into plugin.toml. If you downloaded it, don't use it.",
    });
  }
  return { manifest, toml: files.toml, wasm, source };
}

// Which of two versions is the later one, by the rules of https://semver.org/#spec-item-11.

/** Below 0: `one` is the earlier. What follows a `+` does not count. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [partsOf(one), partsOf(other)];
  for (const index of [0, 1, 2]) {
    const difference = Number(a.numbers[index]) - Number(b.numbers[index]);
    if (difference !== 0) return difference;
  }
  // A version before the release is earlier than the release.
  if (a.before.length === 0 || b.before.length === 0) return b.before.length - a.before.length;
  for (let index = 0; index < Math.max(a.before.length, b.before.length); index += 1) {
    const difference = compareWords(a.before[index], b.before[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

function partsOf(version: string): { numbers: string[]; before: string[] } {
  const [release = "", ...before] = version.split("+", 1)[0]!.split("-");
  return { numbers: release.split("."), before: before.length === 0 ? [] : before.join("-").split(".") };
}

function compareWords(one: string | undefined, other: string | undefined): number {
  if (one === other) return 0;
  if (one === undefined) return -1;
  if (other === undefined) return 1;
  const [a, b] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (a && b) return Number(one) - Number(other);
  if (a !== b) return a ? -1 : 1;
  return one < other ? -1 : 1;
}
