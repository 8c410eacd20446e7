/** Files that go with the next message of `svc chat`. */
import { randomBytes } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, stat, unlink } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Json, SvcError } from "@svc/contract";
import type { Call } from "../service/backend.ts";

/** As the service has them. */
const MAX_BYTES = 25 * 1_048_576;

export interface AttachedFile {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
}

/** Throws USAGE for a path that is no file, and what the service throws. `folder`: that of uploads. */
export async function attach(call: Call, folder: string, path: string): Promise<AttachedFile> {
  const file = resolve(path.replace(/^~(?=\/|$)/, homedir()));
  const stats = await stat(file).catch((cause: unknown) => {
    throw new SvcError("USAGE", "There is no file at this path, or it can't be read.", { cause });
  });
  if (!stats.isFile()) throw new SvcError("USAGE", "Only files can be attached, not folders or devices.");
  if (stats.size > MAX_BYTES) throw new SvcError("TOO_LARGE", "A file may have at most 25 MiB.");
  const copy = `${randomBytes(8).toString("hex")}.part`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const part = join(folder, copy);
  try {
    await pipeline(createReadStream(file), createWriteStream(part, { flags: "wx", mode: 0o600 }));
    return (await call({ name: "attach", body: { copy, name: basename(file) } })) as unknown as AttachedFile;
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    throw new SvcError("USAGE", "The file can't be read, or not be copied into the home.", { cause });
  } finally {
    await unlink(part).catch(() => {});
  }
}

/** As a transcript names it: `[IMAGE photo.png, image/png, 12 kB]`. */
export function fileLine({ name, type, size }: Omit<AttachedFile, "id">): string {
  const [family = ""] = type.split("/", 1);
  const kind = family === "image" || family === "audio" || family === "video" ? family : "document";
  const length =
    size < 1000 ? `${size} B` : size < 1e6 ? `${Math.round(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`;
  return `[${kind.toUpperCase()} ${name}, ${type}, ${length}]`;
}

/** The path of `/attach`, which may stand in quotes; undefined: the line is no such command. */
export function attachCommand(line: string): { readonly path: string } | undefined {
  const [word = "", ...rest] = line.trim().split(" ");
  if (word !== "/attach") return undefined;
  const path = rest.join(" ").trim();
  const quote = path[0];
  const isQuoted = path.length > 1 && (quote === '"' || quote === "'") && path.endsWith(quote);
  // A terminal into which a file is dropped writes a backslash before each blank.
  return { path: isQuoted ? path.slice(1, -1) : path.replaceAll(/\\(.)/g, "$1") };
}

export const idsOf = (files: readonly AttachedFile[]): Json => files.map(({ id }) => id);
