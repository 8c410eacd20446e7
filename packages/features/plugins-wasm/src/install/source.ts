/** Where a plugin is installed from: a folder with its files, or a URL of them in an archive. */
import { realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type FeatureCommandContext, SvcError } from "@svc/contract";
import { MANIFEST_FILE } from "../manifest/manifest.ts";
import { LIMITS, readPluginFile } from "../manifest/plugin-file.ts";
import { unpackPlugin } from "./archive.ts";
import { downloadPlugin, sourceUrl } from "./download.ts";
import { type PluginPackage, readPackage } from "./package.ts";

/** Throws PLUGIN_INVALID, PLUGIN_CHANGED, and what `context.fetch` throws. */
export async function packageFrom(
  source: string,
  context: Pick<FeatureCommandContext, "fetch" | "progress" | "signal">,
): Promise<PluginPackage> {
  const url = sourceUrl(source);
  if (url === undefined) return await packageOfFolder(source);
  const archive = await downloadPlugin(url, context);
  return await readPackage(await unpackPlugin(archive), `${url.origin}${url.pathname}`);
}

async function packageOfFolder(source: string): Promise<PluginPackage> {
  const folder = await realpath(resolve(source)).catch(() => undefined);
  if (folder === undefined || !(await stat(folder)).isDirectory()) {
    throw new SvcError("PLUGIN_INVALID", "The source is neither a folder nor a URL.", {
      hint: "Give the folder that has plugin.toml in it, or the https URL of a .tgz.",
    });
  }
  const read = (name: string, maxBytes: number, what: string) =>
    readPluginFile(join(folder, name), maxBytes, what, "PLUGIN_INVALID");
  const files = {
    toml: await read(MANIFEST_FILE, LIMITS.manifest, MANIFEST_FILE),
    wasm: (name: string) => read(name, LIMITS.wasm, "The wasm file that plugin.toml names"),
  };
  return await readPackage(files, folder);
}
