/** The installed plugins: each as it was approved, or the reason why it is left out. Only reads. */
import { type ErrorCode, type Logger, SvcError } from "@svc/contract";
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import * as v from "valibot";
import { type Manifest, MANIFEST_FILE, manifestSchema, pluginName, sha256 } from "./manifest.ts";
import { MAX_MODULE_BYTES } from "./module.ts";

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

// Installed plugins, as the plugin host and the command see them.

/** A plugin that is what was approved when it was installed. */
export interface InstalledPlugin {
  /** Also its folder's. Its tool's comes of it by `toolNameOf`, so that it has at most `MAX_PLUGIN_NAME_CHARS` characters. */
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** Absolute. */
  readonly wasmFile: string;
  /** Of the wasm file, as approved: 64 lower-case hex digits. Anyone who runs the file compares what they read with it. */
  readonly sha256: string;
  /** As approved, lower case: names or addresses, each with `:port` where it is not the scheme's own. */
  readonly allowedHosts: readonly string[];
  readonly limits: PluginLimits;
  /** Absolute. */
  readonly folder: string;
}

export interface PluginLimits {
  /** Of the module's linear memory. */
  readonly memoryMb: number;
  /** Of one call. */
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
}

/** A folder among the plugins that is left out. */
interface PluginProblem {
  /** Absolute. */
  readonly folder: string;
  readonly code: ErrorCode;
  /** A sentence for a person. */
  readonly problem: string;
}

export interface Plugins {
  /** By name. */
  readonly plugins: readonly InstalledPlugin[];
  readonly problems: readonly PluginProblem[];
}

/** `readPlugins` of ./read-plugins.ts: no folder, no plugins. Never throws for what a folder holds. */
type ReadPlugins = (pluginsFolder: string, log: Logger) => Promise<Plugins>;

/** Where the plugins are. */
const DEFAULT_PLUGINS_FOLDER = "plugins";

/**
 * Absolute. Throws CONFIG_INVALID for an agent's workspace and folders below it: agents could approve plugins for themselves.
 */
export function pluginsFolderOf(homeFolder: string, pluginsDir: string = DEFAULT_PLUGINS_FOLDER): string {
  const folder = resolve(homeFolder, pluginsDir);
  const workspace = resolve(homeFolder, "workspace");
  if (folder !== workspace && !folder.startsWith(workspace + sep)) return folder;
  throw new SvcError("CONFIG_INVALID", "plugins.plugins_dir is in the workspace, where the agents write.", {
    hint: "Name a folder outside of every workspace.",
  });
}

/**
 * `approved.json`: what someone agreed to when a plugin was installed. It names the release in effect, so that replacing this
 * one file is the whole of an upgrade:
 * plugins/weather/approved.json
 * plugins/weather/3f9c2a71b04d/plugin.toml, weather.wasm
 */
export const APPROVAL_FILE = "approved.json";
/** Folders of releases. */
export const RELEASE_NAME = /^[0-9a-f]{12}$/;

const approvalSchema = v.strictObject({
  /** Of this file's form. */
  format: v.literal(1),
  release: v.pipe(v.string(), v.regex(RELEASE_NAME)),
  /** As it was read then; hosts and limits are taken from here. */
  manifest: manifestSchema,
  /** Of plugin.toml. */
  manifest_sha256: sha256,
  /** Where it came from: a folder, or a URL without its query. */
  source: v.pipe(v.string(), v.maxLength(4096)),
  /** RFC 3339. */
  approved_at: v.pipe(v.string(), v.isoTimestamp()),
});
export type Approval = v.InferOutput<typeof approvalSchema>;

export const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export const approvalText = (approval: Approval): string => `${JSON.stringify(approval, null, 2)}\n`;

/** Throws PLUGIN_CHANGED where it is missing, or none that could be ours. */
export async function readApproval(folder: string): Promise<Approval> {
  const file = join(folder, APPROVAL_FILE);
  const bytes = await readPluginFile(file, LIMITS.approval, "Its approval, approved.json,", "PLUGIN_CHANGED");
  const parsed = v.safeParse(approvalSchema, jsonOf(bytes));
  if (parsed.success) return parsed.output;
  throw new SvcError("PLUGIN_CHANGED", "Its approval, approved.json, is not what an install writes.");
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

export interface ApprovedRelease {
  readonly approval: Approval;
  readonly manifest: Manifest;
  /** Absolute. */
  readonly folder: string;
  /** Absolute. */
  readonly wasmFile: string;
}

/** Reads the active version, and compares it with the approval. Throws PLUGIN_CHANGED. */
async function readRelease(pluginFolder: string): Promise<ApprovedRelease> {
  const approval = await readApproval(pluginFolder);
  const { manifest } = approval;
  const folder = join(pluginFolder, approval.release);
  const wasmFile = join(folder, manifest.wasm);
  const toml = await readPluginFile(join(folder, MANIFEST_FILE), LIMITS.manifest, "plugin.toml", "PLUGIN_CHANGED");
  if (hashOf(toml) !== approval.manifest_sha256) throw changed("plugin.toml");
  const wasm = await readPluginFile(wasmFile, LIMITS.wasm, "The wasm file", "PLUGIN_CHANGED");
  if (hashOf(wasm) !== manifest.sha256) throw changed("The wasm file");
  return { approval, manifest, folder, wasmFile };
}

const changed = (what: string): SvcError => new SvcError("PLUGIN_CHANGED", `${what} is not what was approved.`);

// Files of a plugin, which others wrote: regular ones only, never by way of a symbolic link, never more than was asked for.

/** Bytes. */
export const LIMITS = {
  manifest: 16 * 1024,
  wasm: MAX_MODULE_BYTES,
  approval: 64 * 1024,
} as const;

// Windows has neither; nothing waits there for the other end of a pipe when it is opened.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** Throws `code` if it is not a file, too large, or unreadable. `what`: its name in the message. */
export async function readPluginFile(path: string, maxBytes: number, what: string, code: ErrorCode): Promise<Buffer> {
  const refused = (problem: string, cause?: unknown): SvcError =>
    new SvcError(code, `${what} ${problem}.`, cause === undefined ? {} : { cause });
  let handle;
  try {
    // Without O_NONBLOCK a FIFO in its place would be waited for.
    handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (cause) {
    throw refused(OPEN_PROBLEMS[(cause as NodeJS.ErrnoException).code ?? ""] ?? "can't be read", cause);
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw refused("is not a regular file");
    if (stats.size > maxBytes) throw refused(`is larger than ${maxBytes / 1024} KiB`);
    const bytes = Buffer.alloc(maxBytes + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
      length += bytesRead;
      if (bytesRead === 0 || length === bytes.length) break;
    }
    if (length > maxBytes) throw refused(`is larger than ${maxBytes / 1024} KiB`);
    return Buffer.from(bytes.subarray(0, length));
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    throw refused("can't be read", cause);
  } finally {
    await handle.close();
  }
}

const OPEN_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "is missing",
  ENOTDIR: "is missing",
  ELOOP: "is a symbolic link",
  EMLINK: "is a symbolic link",
  EISDIR: "is not a regular file",
  ENXIO: "is not a regular file",
  EACCES: "may not be read by this user",
  EPERM: "may not be read by this user",
};

/** The fault of a folder with an approved plugin; undefined: none. */
async function folderProblem(path: string): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats) return "can't be read";
  if (stats.isSymbolicLink()) return "is a symbolic link";
  if (!stats.isDirectory()) return "is not a folder";
  if (process.platform === "win32") return undefined;
  // Anyone who may write there could approve what they like.
  if ((stats.mode & 0o022) !== 0) return "can be written by others";
  const isOurs = stats.uid === process.geteuid?.() || stats.uid === 0;
  return isOurs ? undefined : "belongs to another user";
}
