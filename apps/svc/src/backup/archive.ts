/**
 * A backup's archive, written and read. Reading believes nothing: what the archive holds has to be what its manifest says, byte for
 * byte, and the manifest has to keep the rules of manifest.ts. Until everything is checked nothing leaves the folder.
 */
import { createHash } from "node:crypto";
import { createReadStream, statfsSync, statSync } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createGunzip, createGzip } from "node:zlib";
import { syncDirectory } from "@svc/config";
import { SvcError } from "@svc/contract";
import { createTarDecoder, createTarPacker, type ParsedTarEntry, type TarPackController } from "modern-tar";
import { type BackupFile, damaged, MANIFEST, type Manifest, MAX_MANIFEST_BYTES, parseManifest } from "./manifest.ts";

/** What headers, padding and the end of a tar take up beside the files: for each file, and in all. */
const OVERHEAD_BYTES = { file: 8192, archive: 4 * 1024 * 1024 } as const;

/** `folder` exists and is empty. Throws BACKUP_INVALID, STORE_FULL, HOME_UNWRITABLE; files may be left in `folder` then. */
export async function unpack(archive: string, folder: string): Promise<Manifest> {
  const meter = new Meter(MAX_MANIFEST_BYTES + OVERHEAD_BYTES.archive);
  const decoder = createTarDecoder({ strict: true });
  const broken = new AbortController();
  const { signal } = broken;
  const feeding = pipeline(createReadStream(archive), createGunzip(), meter.measure, decoder.writable, { signal });
  const taking = take(decoder.readable, folder, meter);
  try {
    const [manifest] = await Promise.all([taking, feeding]);
    return manifest;
  } catch (error) {
    broken.abort();
    // Whoever removes the folder must not meet a file that is still being written there.
    await Promise.allSettled([taking, feeding]);
    throw error instanceof SvcError ? error : damaged(reasonOf(error), error);
  }
}

async function take(entries: ReadableStream<ParsedTarEntry>, folder: string, meter: Meter): Promise<Manifest> {
  let manifest: Manifest | undefined;
  let waiting = new Map<string, BackupFile>();
  for await (const entry of entries) {
    const { name, type, size } = entry.header;
    if (!manifest) {
      manifest = await readManifest(entry);
      waiting = new Map(manifest.files.map((file) => [file.path, file]));
      const bytes = manifest.files.reduce((sum, file) => sum + file.size, 0);
      demandRoom(folder, bytes);
      meter.limit += bytes + manifest.files.length * OVERHEAD_BYTES.file;
      continue;
    }
    const file = waiting.get(name);
    if (!file || type !== "file" || size !== file.size) throw damaged("it holds something that its list does not name");
    waiting.delete(name);
    await extract(entry, file, folder);
  }
  if (!manifest) throw damaged("it is empty");
  if (waiting.size > 0) throw damaged("files are missing in it");
  return manifest;
}

async function readManifest({ header, body }: ParsedTarEntry): Promise<Manifest> {
  if (header.name !== MANIFEST || header.type !== "file" || header.size > MAX_MANIFEST_BYTES) {
    throw damaged("it is not a backup of svc");
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return parseManifest(Buffer.concat(chunks).toString("utf8"));
}

async function extract({ header, body }: ParsedTarEntry, { path, sha256 }: BackupFile, folder: string): Promise<void> {
  const target = join(folder, ...path.split("/"));
  const hash = createHash("sha256");
  const file = await created(target, header.mode);
  try {
    for await (const chunk of body) {
      hash.update(chunk);
      await file.writeFile(chunk).catch(unwritable);
    }
    if (hash.digest("hex") !== sha256) throw damaged("a file in it is not what it was");
    await file.sync().catch(unwritable);
  } finally {
    await file.close();
  }
  syncDirectory(dirname(target));
}

/** Exclusively: two names that are one here (`A` and `a` on some disks) would hide each other. */
async function created(target: string, mode = 0): Promise<FileHandle> {
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    return await open(target, "wx", mode & 0o100 ? 0o700 : 0o600);
  } catch (error) {
    if (CLASHES.has((error as NodeJS.ErrnoException).code ?? ""))
      throw damaged("two of its files have one place", error);
    return unwritable(error);
  }
}

const CLASHES: ReadonlySet<string> = new Set(["EEXIST", "ENOTDIR", "EISDIR"]);

function unwritable(cause: unknown): never {
  if ((cause as NodeJS.ErrnoException).code === "ENOSPC") throw noRoom(cause);
  throw new SvcError("HOME_UNWRITABLE", undefined, { cause, hint: "Make the home writable for this user." });
}

function demandRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bytes > bavail * bsize) throw noRoom();
}

const noRoom = (cause?: unknown): SvcError =>
  new SvcError("STORE_FULL", "There is no room for the restored files beside those that are there.", {
    cause,
    hint: "Free some space on the disk that holds the home folder.",
  });

function reasonOf(error: unknown): string {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES" || code === "EISDIR") return "it can't be read";
  if (code === "Z_DATA_ERROR" || code === "Z_BUF_ERROR") return "it is damaged or cut off";
  return "it is damaged, cut off, or no backup of svc";
}

/** Stops a small file that would unpack to more than it may. */
class Meter {
  limit: number;
  #seen = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  readonly measure = async function* (this: Meter, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.#seen += chunk.length;
      if (this.#seen > this.limit) throw damaged("it is larger than it says");
      yield chunk;
    }
  }.bind(this);
}

/** Files of a folder, as the manifest lists them, into one tar.gz. `archive` must not exist; it is on disk when this resolves. The manifest comes first: who unpacks knows what to expect. */
export async function pack(folder: string, manifest: Manifest, archive: string): Promise<void> {
  const { readable, controller } = createTarPacker();
  const file = await open(archive, "wx", 0o600);
  try {
    // Not a write stream of node:fs: in a single binary its writes of several chunks at once fail.
    const written = pipeline(readable, createGzip({ level: constants.Z_BEST_SPEED }), async (chunks) => {
      for await (const chunk of chunks as AsyncIterable<Buffer>) await file.writeFile(chunk);
    });
    // Whichever of the two fails first ends the other, and is what is told.
    await Promise.all([written, fill(controller, folder, manifest).catch((error: unknown) => controller.error(error))]);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function fill(controller: TarPackController, folder: string, manifest: Manifest): Promise<void> {
  const mtime = new Date(manifest.created_at);
  const text = Buffer.from(JSON.stringify(manifest, null, 2));
  const first = controller.add({ name: MANIFEST, size: text.length, mode: 0o600, mtime }).getWriter();
  await first.write(text);
  await first.close();
  for (const { path, size } of manifest.files) {
    const file = join(folder, ...path.split("/"));
    const mode = statSync(file).mode & 0o700;
    await pipeline(createReadStream(file), controller.add({ name: path, size, mode, mtime }));
  }
  controller.finalize();
}
