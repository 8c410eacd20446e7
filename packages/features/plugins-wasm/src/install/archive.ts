/**
 * A `.tgz` in memory. Nothing of it is ever written by the names in it: two of its files are taken, all others must at least be
 * ones that an honest archive could have.
 */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { SvcError } from "@svc/contract";
import { type TarHeader, unpackTar } from "modern-tar";
import { MANIFEST_FILE } from "../manifest/manifest.ts";
import { LIMITS } from "../manifest/plugin-file.ts";
import type { PluginFiles } from "./package.ts";

/** Bytes, unpacked. */
export const MAX_UNPACKED_BYTES = 20 * 1024 * 1024;
const MAX_ENTRIES = 100;

/** Throws PLUGIN_INVALID. plugin.toml may be at the top, or in the one folder that is. */
export async function unpackPlugin(archive: Uint8Array): Promise<PluginFiles> {
  const files = await filesOf(await unzipped(archive));
  const top = files.has(MANIFEST_FILE) ? "" : topFolder([...files.keys()]);
  const take = (name: string, maxBytes: number): Uint8Array => {
    const bytes = files.get(`${top}${name}`);
    if (bytes === undefined)
      throw invalid(`has no ${name === MANIFEST_FILE ? name : "wasm file of the name in plugin.toml"}`);
    if (bytes.byteLength > maxBytes) throw invalid(`has a file in it that is larger than ${maxBytes / 1024} KiB`);
    return bytes;
  };
  return { toml: take(MANIFEST_FILE, LIMITS.manifest), wasm: async (name) => take(name, LIMITS.wasm) };
}

async function unzipped(archive: Uint8Array): Promise<Uint8Array> {
  if (archive[0] !== 0x1f || archive[1] !== 0x8b) throw invalid("is not one");
  try {
    return await promisify(gunzip)(archive, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch (cause) {
    const isBomb = (cause as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE";
    throw invalid(isBomb ? `unpacks to more than ${MAX_UNPACKED_BYTES / 1_048_576} MiB` : "is damaged", cause);
  }
}

/** Regular files by path, without `./`. */
async function filesOf(tar: Uint8Array): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  const seen = new Set<string>();
  const entries = await entriesOf(tar);
  if (entries.length > MAX_ENTRIES) throw invalid(`has more than ${MAX_ENTRIES} entries`);
  for (const { header, data } of entries) {
    const path = safePath(header);
    if (path === undefined) continue;
    const key = path.toLowerCase();
    // Of two the one that somebody looked at need not be the one that is taken.
    if (seen.has(key)) throw invalid("has two entries of one name");
    seen.add(key);
    if (header.type !== "directory") files.set(path, data ?? new Uint8Array());
  }
  return files;
}

async function entriesOf(tar: Uint8Array): Promise<Awaited<ReturnType<typeof unpackTar>>> {
  try {
    return await unpackTar(tar, { strict: true });
  } catch (cause) {
    throw invalid("is damaged", cause);
  }
}

/** undefined: the top itself. */
function safePath({ name, type = "file" }: TarHeader): string | undefined {
  if (type !== "file" && type !== "directory")
    throw invalid("has a link or a device in it; only files and folders may be");
  const path = name.replace(/^(?:\.\/)+/, "").replace(/\/$/, "");
  if (path === "" || path === ".") {
    if (type === "directory") return undefined;
    throw invalid("has a file without a name");
  }
  const parts = path.split("/");
  const isSafe =
    path.length <= 255 && parts.length <= 8 && parts.every((part) => SAFE.test(part) && !/^\.*$/.test(part));
  if (!isSafe) throw invalid("has an entry whose name is not one of a file below it");
  return path;
}

/** No slash at the beginning, no backslash, no drive, no control character: nothing that a file system could take for a way out. */
const SAFE = /^[\p{L}\p{N}._+@ ()-]+$/u;

function topFolder(paths: readonly string[]): string {
  const tops = new Set(paths.map((path) => path.split("/")[0] ?? ""));
  return tops.size === 1 ? `${[...tops][0]}/` : "";
}

const invalid = (what: string, cause?: unknown): SvcError =>
  new SvcError("PLUGIN_INVALID", `The archive ${what}.`, {
    hint: "Make it so: tar -czf my_plugin.tgz -C my-plugin plugin.toml plugin.wasm",
    ...(cause !== undefined && { cause }),
  });
