/** What an install has before anybody agreed to it: in memory, checked, nothing of it on the disk. */
import { SvcError } from "@svc/contract";
import { hashOf } from "../manifest/approval.ts";
import { type Manifest, readManifest } from "../manifest/manifest.ts";

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
  /** Rejects with PLUGIN_INVALID where there is none of that name. */
  wasm(name: string): Promise<Uint8Array>;
}

/** Throws PLUGIN_INVALID; PLUGIN_CHANGED where the wasm file is another than plugin.toml says. */
export async function readPackage(files: PluginFiles, source: string): Promise<PluginPackage> {
  const manifest = readManifest(files.toml);
  const wasm = await files.wasm(manifest.wasm);
  if (hashOf(wasm) !== manifest.sha256) {
    throw new SvcError("PLUGIN_CHANGED", "The wasm file's SHA-256 is not the one in plugin.toml.", {
      hint: "Whoever made it: write the hash of the file as it is into plugin.toml. Whoever fetched it: don't use it.",
    });
  }
  return { manifest, toml: files.toml, wasm, source };
}
