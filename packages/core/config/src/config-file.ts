/** Reads the config file: bounded, as UTF-8, with what its mode gives away; and what it says. */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { SvcError } from "@svc/contract";
import { ConfigError } from "./problem.ts";
import type { Table } from "./table.ts";
import { parseToml } from "./toml.ts";

/** A config is some kilobytes; `--config /dev/zero` must not fill the memory. */
const MOST_BYTES = 4 * 1024 * 1024;

export interface ConfigFile {
  readonly text: string;
  /** The byte order mark that some editors write, or nothing. Not part of `text`. */
  readonly mark: string;
  /** Permission bits; undefined where the system has none. */
  readonly mode: number | undefined;
}

export interface ParsedConfig {
  readonly file: string;
  readonly text: string;
  readonly mode: number | undefined;
  readonly table: Table;
}

/** Throws CONFIG_INVALID with the place of what is not TOML. `file` is named, not read. */
export async function parseConfig(
  file: string,
  { text, mode }: Pick<ConfigFile, "text"> & Partial<ConfigFile>,
): Promise<ParsedConfig> {
  const parsed = await parseToml(text);
  if ("table" in parsed) return { file, text, mode, table: parsed.table };
  throw new ConfigError(file, [{ code: "CONFIG_INVALID", file, key: "", ...parsed.fault }]);
}

/** Throws CONFIG_NOT_FOUND and CONFIG_INVALID. */
export function readConfigFile(file: string): ConfigFile {
  const { bytes, mode } = readBytes(file);
  if (bytes.length > MOST_BYTES) throw unusable(file, "the file is larger than 4 MiB");
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
    return { text: text.slice(mark.length), mark, mode };
  } catch (error) {
    throw unusable(file, "the file is not UTF-8 text", error);
  }
}

function readBytes(file: string): { bytes: Buffer; mode: number | undefined } {
  let handle: number | undefined;
  try {
    // To wait for the writer of a FIFO would stop everything else in the daemon that reloads, for good.
    handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(handle);
    // Read a second time it is empty, and an empty config is a valid one without any of the locks of the first.
    if (stats.isFIFO()) throw unusable(file, "this is a pipe, and a config is read more than once");
    const mode = process.platform === "win32" ? undefined : stats.mode & 0o777;
    return { bytes: readUpTo(handle, MOST_BYTES + 1), mode };
  } catch (error) {
    if (error instanceof SvcError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      const hint = "Make one with `svc init --yes`, or name one with --config.";
      throw new SvcError("CONFIG_NOT_FOUND", `${file} does not exist.`, { hint, cause: error });
    }
    const why = code === "EACCES" ? "this user may not read the file" : "the file can't be read";
    throw unusable(file, code === "EISDIR" ? "this is a directory" : why, error);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** Not by the size that the system tells: a device has none. */
function readUpTo(handle: number, most: number): Buffer {
  const chunks: Buffer[] = [];
  for (let total = 0; total < most;) {
    const chunk = Buffer.allocUnsafe(Math.min(64 * 1024, most - total));
    const count = readSync(handle, chunk);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    total += count;
  }
  return Buffer.concat(chunks);
}

const unusable = (file: string, message: string, cause?: unknown): ConfigError =>
  new ConfigError(file, [{ code: "CONFIG_INVALID", file, key: "", message }], { cause });
