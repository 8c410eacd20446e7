/** What is installed: each plugin as it was approved, or why it is left out. Only reads. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type ErrorCode, SvcError } from "@svc/contract";
import * as v from "valibot";
import { readRelease } from "./approval.ts";
import { pluginName } from "./manifest.ts";
import { folderProblem } from "./plugin-file.ts";
import type { InstalledPlugin, PluginProblem, Plugins, ReadPlugins } from "./types.ts";

/** Each is hashed: more of them would hold up every start. */
const MOST = 100;

export const readPlugins: ReadPlugins = async (pluginsFolder, log): Promise<Plugins> => {
  const plugins: InstalledPlugin[] = [];
  const problems: PluginProblem[] = [];
  const leaveOut = (folder: string, code: ErrorCode, problem: string): void => {
    problems.push({ folder, code, problem });
    log.warn("a plugin is left out", { folder, code, problem });
  };
  for (const name of await pluginFolders(pluginsFolder, leaveOut)) {
    const folder = join(pluginsFolder, name);
    try {
      if (plugins.length === MOST) throw new SvcError("PLUGIN_INVALID", `There are more than ${MOST} plugins.`);
      plugins.push(await readPlugin(folder, name));
    } catch (error) {
      const { code, message } = error instanceof SvcError ? error : UNREADABLE;
      leaveOut(folder, code, message);
    }
  }
  return { plugins, problems };
};

const UNREADABLE = { code: "PLUGIN_INVALID", message: "It can't be read." } as const;

/** By name. What begins with a dot is an install's that goes on, or was killed. */
async function pluginFolders(
  pluginsFolder: string,
  leaveOut: (folder: string, code: ErrorCode, problem: string) => void,
): Promise<string[]> {
  try {
    const entries = await readdir(pluginsFolder, { withFileTypes: true });
    return entries
      .filter((entry) => !entry.name.startsWith(".") && !entry.isFile())
      .map(({ name }) => name)
      .toSorted();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      leaveOut(pluginsFolder, "PLUGIN_INVALID", "The folder of the plugins can't be read.");
    }
    return [];
  }
}

/** Throws PLUGIN_INVALID, PLUGIN_CHANGED. */
export async function readPlugin(folder: string, name: string): Promise<InstalledPlugin> {
  if (!v.is(pluginName, name)) throw new SvcError("PLUGIN_INVALID", "The folder's name is no plugin's.");
  const problem = await folderProblem(folder);
  if (problem !== undefined) throw new SvcError("PLUGIN_CHANGED", `The folder ${problem}.`);
  const { manifest, wasmFile, folder: release } = await readRelease(folder);
  const below = await folderProblem(release);
  if (below !== undefined) throw new SvcError("PLUGIN_CHANGED", `The folder of its release ${below}.`);
  if (manifest.name !== name) throw new SvcError("PLUGIN_CHANGED", "It was approved under another name.");
  const { version, description, sha256, allowed_hosts: allowedHosts, limits } = manifest;
  return {
    name,
    version,
    description,
    wasmFile,
    sha256,
    allowedHosts,
    limits: {
      memoryMb: limits.memory_mb,
      timeoutMs: limits.timeout_ms,
      maxOutputBytes: limits.max_output_kb * 1024,
    },
    folder,
  };
}
