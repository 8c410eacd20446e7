/** Where a plugin is installed from: a folder with its files, or a URL of them in an archive. */
import { type FeatureCommandContext, type FetchResult, SvcError } from "@svc/contract";
import { type TarHeader, unpackTar } from "modern-tar";
import { realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { LIMITS, readPluginFile } from "../installed.ts";
import { MANIFEST_FILE } from "../manifest.ts";
import { type PluginFiles, type PluginPackage, readPackage } from "./package.ts";

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

// Fetches an archive: over https, or from this machine. A redirect leads to https and to no private address.

/** Bytes of the archive. */
const MAX_ARCHIVE_BYTES = 20 * 1024 * 1024;
/** Of the whole download. */
const TIMEOUT_MS = 300_000;
const MAX_REDIRECTS = 5;

/** undefined: no URL, but a path. Throws PLUGIN_INVALID for a URL that nothing is installed from. */
function sourceUrl(source: string): URL | undefined {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(source)) return undefined;
  const url = URL.canParse(source) ? new URL(source) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url))) return url;
  throw new SvcError("PLUGIN_INVALID", "A plugin is installed from https URLs only, or http ones of this machine.", {
    hint: "Use an https URL: over http, an attacker on the way could replace the plugin.",
  });
}

/** As `FeatureCommandContext.fetch` takes it: those hosts it reaches. */
const isLoopback = ({ hostname }: URL): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

/** Throws PLUGIN_INVALID unless it is an archive of at most 20 MiB, and the errors of `context.fetch`. */
async function downloadPlugin(
  typed: URL,
  context: Pick<FeatureCommandContext, "fetch" | "progress" | "signal">,
): Promise<Uint8Array> {
  const progress = context.progress("Downloading");
  try {
    let url = typed;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const { answer, bytes } = await request(url, context, (share) => progress.at(share));
      const next = redirectOf(answer, url);
      if (next === undefined) return archiveOf(answer, bytes);
      if (next.origin !== typed.origin && (next.protocol !== "https:" || isLoopback(next))) {
        throw new SvcError("ADDRESS_REFUSED", "The server redirects to where nothing is installed from.", {
          hint: "A redirect must lead to https, and not to this machine.",
        });
      }
      url = next;
    }
    throw new SvcError("REMOTE_UNREACHABLE", `The server redirected more than ${MAX_REDIRECTS} times.`);
  } finally {
    progress.done();
  }
}

async function request(
  url: URL,
  { fetch, signal }: Pick<FeatureCommandContext, "fetch" | "signal">,
  at: (share: number | undefined) => void,
): Promise<{ answer: FetchResult; bytes: Uint8Array }> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  let length: number | undefined;
  const answer = await fetch(url.href, {
    // Each is looked at here: the client alone would follow one to http.
    redirects: "none",
    maxBytes: MAX_ARCHIVE_BYTES,
    timeoutMs: TIMEOUT_MS,
    signal,
    begun: ({ headers }) => (length = headers["content-encoding"] === undefined ? lengthOf(headers) : undefined),
    write: async (chunk) => {
      chunks.push(chunk);
      total += chunk.byteLength;
      at(length === undefined ? undefined : total / length);
    },
  });
  return { answer, bytes: Buffer.concat(chunks) };
}

function lengthOf(headers: FetchResult["headers"]): number | undefined {
  const length = Number(headers["content-length"]);
  return length > 0 ? length : undefined;
}

function redirectOf({ status, headers }: FetchResult, url: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || headers["location"] === undefined) return undefined;
  if (URL.canParse(headers["location"], url)) return new URL(headers["location"], url);
  throw new SvcError("REMOTE_UNREACHABLE", "The server redirects to an invalid URL.");
}

function archiveOf({ status, truncated }: FetchResult, bytes: Uint8Array): Uint8Array {
  if (status !== 200) {
    throw new SvcError("REMOTE_UNREACHABLE", `The server answered with status ${status}, not with a plugin.`);
  }
  if (truncated) {
    throw new SvcError("PLUGIN_INVALID", `The archive is larger than ${MAX_ARCHIVE_BYTES / 1_048_576} MiB.`);
  }
  return bytes;
}

// A `.tgz` in memory. Nothing of it is ever written by the names in it: two of its files are taken, all others must at least be
// ones that an honest archive could have.

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
    // With two entries of one name, the reviewed file might not be the unpacked one.
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
