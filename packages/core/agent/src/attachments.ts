/**
 * Files that come with messages of the page, of the command line and of the HTTP API. They are uploaded first, wait in a folder of
 * the home, and are copied into the agent's workspace when a message is sent with them, before it is stored.
 */
import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { dirname } from "node:path/posix";
import { MAX_FILES } from "@svc/api";
import { type ClientId, type Clock, type Logger, type Speech, SvcError, type Workspace } from "@svc/contract";
import type { SentFile, Store, Upload, UploadTarget } from "@svc/store";
import { NOT_TRANSCRIBED, transcriptText } from "./turn/history.ts";
import { mediaKindOf } from "@svc/kit";
import { mediaPathOf } from "./workspace/media-path.ts";

/** Of one file. */
export const MAX_FILE_BYTES = 25 * 1_048_576;
/** Of one client, uploaded and not sent. */
export const MAX_UNSENT = 100;
const UNSENT_MS = 86_400_000;
/** Uploads at the same time; each has a file and a connection open. */
const MAX_AT_ONCE = 32;
/** Removed in one step. */
const STEP = 100;
const PART = ".part";

export interface AttachmentOptions {
  /** Files wait here; made when it is missing. */
  readonly folder: string;
  readonly store: Pick<Store, "uploads" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly speech: Pick<Speech, "canTranscribe" | "transcribe">;
  /** Of an agent; undefined when there is no such agent. */
  readonly workspaceOf: (agent: string) => Workspace | undefined;
  /** Of all agents. */
  readonly workspaces: () => readonly Workspace[];
}

/** Hands over all bytes of an upload; rejects when they can't be had. */
export type UploadBody = (write: (chunk: Uint8Array) => Promise<void>) => Promise<void>;

/** A file of a conversation, with its bytes. */
export interface OpenedFile {
  readonly name: string;
  /** As the bytes say now: an agent may have written the file anew. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

export class Attachments {
  readonly #options: AttachmentOptions;
  /** Uploads that come in, by client. */
  readonly #coming = new Map<ClientId, number>();
  #comingCount = 0;

  constructor(options: AttachmentOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the file is on disk. Throws FILE_LIMIT, BUSY, TOO_LARGE, BAD_REQUEST for an empty file, STORE_*, and what `body`
   * rejects with; then nothing of it is kept.
   */
  async receive(owner: ClientId, name: string, body: UploadBody): Promise<Upload> {
    const { store, clock } = this.#options;
    const leave = this.#enter(owner);
    const id = randomBytes(8).toString("hex");
    const path = this.#pathOf(id);
    try {
      const { size, head } = await this.#fill(path + PART, body);
      if (size === 0) throw new SvcError("BAD_REQUEST", "The file is empty.");
      await rename(path + PART, path).catch(diskError);
      const upload = { id, owner, name: shownName(name), type: sniffType(head), size, at: clock.now() };
      await store.write(() => store.uploads.add(upload));
      return upload;
    } catch (error) {
      await Promise.all([unlink(path + PART).catch(ignore), unlink(path).catch(ignore)]);
      throw error;
    } finally {
      leave();
    }
  }

  #enter(owner: ClientId): () => void {
    const coming = this.#coming.get(owner) ?? 0;
    if (this.#options.store.uploads.countUnsent(owner) + coming >= MAX_UNSENT) throw new SvcError("FILE_LIMIT");
    if (this.#comingCount >= MAX_AT_ONCE) {
      throw new SvcError("BUSY", "Too many files are being uploaded; try again shortly.", { retryAfterMs: 1_000 });
    }
    this.#coming.set(owner, coming + 1);
    this.#comingCount += 1;
    return () => {
      this.#comingCount -= 1;
      const left = this.#coming.get(owner)! - 1;
      if (left === 0) this.#coming.delete(owner);
      else this.#coming.set(owner, left);
    };
  }

  async #fill(path: string, body: UploadBody): Promise<{ size: number; head: Uint8Array }> {
    await mkdir(this.#options.folder, { recursive: true, mode: 0o700 }).catch(diskError);
    await using file = await open(path, "wx", 0o600).catch(diskError);
    const head = Buffer.alloc(SNIFFED_BYTES);
    let size = 0;
    await body(async (chunk) => {
      if (size < SNIFFED_BYTES) head.set(chunk.subarray(0, SNIFFED_BYTES - size), size);
      size += chunk.byteLength;
      if (size > MAX_FILE_BYTES) throw new SvcError("TOO_LARGE", "A file may have at most 25 MiB.");
      await file.writeFile(chunk).catch(diskError);
    });
    await file.sync().catch(diskError);
    return { size, head: head.subarray(0, size) };
  }

  /** Resolves with whether the client had such a file that was not sent. Rejects with STORE_*. */
  async discard(owner: ClientId, id: string): Promise<boolean> {
    const { store } = this.#options;
    const isRemoved = await store.write(() => {
      if (store.uploads.unsent(id)?.owner !== owner) return false;
      store.uploads.remove([id]);
      return true;
    });
    if (isRemoved) await unlink(this.#pathOf(id)).catch(ignore);
    return isRemoved;
  }

  /**
   * Copies uploaded files into the workspace of the agent that answers. The same again makes the same files. Throws FILE_UNKNOWN for
   * one that the client does not have, AGENT_UNKNOWN, and TOOL_FAILED when the workspace refuses.
   */
  async place(owner: ClientId, ids: readonly string[], agent: string): Promise<SentFile[]> {
    const { store, clock, workspaceOf } = this.#options;
    if (ids.length > MAX_FILES) throw new SvcError("BAD_REQUEST", `A message has at most ${MAX_FILES} files.`);
    const workspace = workspaceOf(agent);
    if (!workspace) throw new SvcError("AGENT_UNKNOWN");
    const uploads = [...new Set(ids)].map((id) => {
      const upload = store.uploads.unsent(id);
      if (upload?.owner !== owner || upload.at < clock.now() - UNSENT_MS) throw new SvcError("FILE_UNKNOWN");
      return upload;
    });
    const placed: SentFile[] = [];
    for (const upload of uploads) {
      const { id, name, type, size } = upload;
      const path = await uploadPath(upload);
      await workspace.write(path, (write) => this.#pump(id, write), "replace").catch(refused);
      placed.push({ id, name, type, size, agent, path });
    }
    return placed;
  }

  async #pump(id: string, write: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    try {
      for await (const chunk of createReadStream(this.#pathOf(id), { highWaterMark: 262_144 }))
        await write(chunk as Buffer);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") throw new SvcError("FILE_UNKNOWN");
      throw error;
    }
  }

  /** Inside the transaction that stores the message. Throws FILE_UNKNOWN when another message was quicker. */
  send(files: readonly SentFile[], target: UploadTarget): void {
    this.#options.store.uploads.send(files, target);
  }

  /** That transaction is on disk: the copies that waited can go. Never rejects. */
  async sent(files: readonly SentFile[]): Promise<void> {
    for (const { id } of files) await unlink(this.#pathOf(id)).catch(ignore);
  }

  /** Whether there is a recording among them that can be transcribed. */
  hears(files: readonly SentFile[]): boolean {
    return this.#options.speech.canTranscribe && files.some(isRecording);
  }

  /**
   * What is said in the recordings among these files, by their ids. Rejects only with the signal's reason: a message is answered
   * without a transcript that can't be had.
   */
  async transcripts(files: readonly SentFile[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const texts = new Map<string, string>();
    for (const file of files.filter(isRecording)) texts.set(file.id, await this.#heard(file, signal));
    return texts;
  }

  async #heard({ id, name, type, agent, path }: SentFile, signal: AbortSignal): Promise<string> {
    const { speech, workspaceOf, log } = this.#options;
    try {
      const read = await workspaceOf(agent)?.read(path, MAX_FILE_BYTES);
      if (!read || read.truncated) throw new SvcError("FILE_UNKNOWN");
      return transcriptText(await speech.transcribe({ name, mimeType: type, bytes: read.bytes }, signal));
    } catch (error) {
      signal.throwIfAborted();
      const code = error instanceof SvcError ? error.code : "INTERNAL";
      log.warn("an attached recording could not be transcribed", { file: id, code });
      return NOT_TRANSCRIBED;
    }
  }

  /** A file of the conversation. Throws FILE_UNKNOWN: there is none, or it is gone from the workspace. */
  async read(id: string, owner: ClientId, session: string): Promise<OpenedFile> {
    const { store, workspaceOf } = this.#options;
    const file = store.uploads.sent(id, owner, session);
    const read = file && (await workspaceOf(file.agent)?.read(file.path, MAX_FILE_BYTES).catch(gone));
    if (!read || read.truncated) throw new SvcError("FILE_UNKNOWN", "This file is not in the workspace any more.");
    return { name: file.name, type: sniffType(read.bytes), bytes: read.bytes };
  }

  /** What a process that was killed has left. Call before anything is uploaded. Never rejects. */
  async removeLeftovers(): Promise<void> {
    const { folder, store } = this.#options;
    for (const name of await readdir(folder).catch(() => [])) {
      if (store.uploads.unsent(name) === undefined) await unlink(join(folder, name)).catch(ignore);
    }
  }

  /** Removes what expired unsent, and the files of conversations that are gone. Rejects with STORE_*. */
  async sweep(): Promise<number> {
    const { store, clock } = this.#options;
    let count = 0;
    for (let gone = STEP; gone === STEP;) {
      const expired = store.uploads.expired(clock.now() - UNSENT_MS, STEP);
      for (const upload of expired) {
        await unlink(this.#pathOf(upload.id)).catch(ignore);
        // A process that was killed while the message was being stored has left it there.
        await this.#removeFrom(this.#options.workspaces(), await uploadPath(upload));
      }
      const orphans = store.uploads.orphans(STEP);
      for (const { agent, path } of orphans) {
        const workspace = this.#options.workspaceOf(agent);
        if (workspace) await this.#removeFrom([workspace], path);
      }
      const ids = [...expired, ...orphans].map(({ id }) => id);
      if (ids.length > 0) await store.write(() => store.uploads.remove(ids));
      count += ids.length;
      gone = Math.max(expired.length, orphans.length);
    }
    return count;
  }

  async #removeFrom(workspaces: readonly Workspace[], path: string): Promise<void> {
    const failed = (error: unknown): void => {
      const code = error instanceof SvcError ? error.code : "INTERNAL";
      // The folder of its day has other files, the rules forbid it, or something else is there by now.
      if (code !== "TOOL_FAILED" && code !== "INTERNAL") return;
      this.#options.log.warn("the file of an old message could not be removed", { code });
    };
    for (const workspace of workspaces) {
      for (const one of [path, dirname(path)]) await workspace.remove(one).catch(failed);
    }
  }

  #pathOf(id: string): string {
    return join(this.#options.folder, id);
  }
}

const isRecording = ({ type }: SentFile): boolean => type.startsWith("audio/");

const NO_SPACE: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

function diskError(cause: unknown): never {
  const isFull = NO_SPACE.has((cause as NodeJS.ErrnoException).code);
  throw isFull ? new SvcError("STORE_FULL") : new SvcError("STORE_FAILED", "The file could not be written.", { cause });
}

/** Whatever its rules are: the person can do something about the config, not about the path. */
function refused(error: unknown): never {
  if (error instanceof SvcError && error.code === "FILE_UNKNOWN") throw error;
  const why = error instanceof SvcError ? error.message : "unexpected error";
  throw new SvcError("TOOL_FAILED", `The workspace does not take the file: ${why}`, { cause: error });
}

const ignore = (): undefined => undefined;

/** Removed, moved or forbidden by now. */
const gone = (error: unknown): undefined => {
  if (error instanceof SvcError && error.code === "TOOL_FAILED") throw error;
};

/** Names of files that came with messages: the one that people read, and the path in the workspace. Both are a stranger's words. */
const MAX_CHARS = 120;

/** One line without a folder and without characters that are not seen, or that turn what follows around. */
export function shownName(name: string): string {
  const last = name.normalize("NFC").split(/[\\/]/).at(-1)!;
  const line = last.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, "").trim();
  return /^\.*$/.test(line) ? "file" : [...line].slice(0, MAX_CHARS).join("");
}

/** `media/<day>/<id>-<name>` below the workspace: the same whenever it is asked. */
export const uploadPath = ({ id, name, type, at }: { id: string; name: string; type: string; at: number }) =>
  mediaPathOf({ kind: mediaKindOf(type), fileName: name, mimeType: type }, id, at);

// What a file is, by its first bytes: a client's word, and a name, may say anything. The list is closed: what is not on it is text or a row
// of bytes, and neither is ever drawn or run by a browser.

/** As many bytes as `sniffType` looks at. */
const SNIFFED_BYTES = 4096;

export function sniffType(head: Uint8Array): string {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, SNIFFED_BYTES));
  const signature = SIGNATURES.find(({ at = 0, magic }) => bytes.subarray(at, at + magic.length).equals(magic));
  if (signature) return typeof signature.type === "string" ? signature.type : signature.type(bytes);
  return isText(bytes, head.byteLength > SNIFFED_BYTES || bytes.length === SNIFFED_BYTES)
    ? "text/plain"
    : "application/octet-stream";
}

/** Pictures that a browser draws without running anything in them. SVG is a program, and none of them. */
export const RASTER_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"];

export const isRasterImage = (type: string): boolean => RASTER_TYPES.includes(type);

interface Signature {
  readonly magic: Buffer;
  readonly at?: number;
  readonly type: string | ((bytes: Buffer) => string);
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(" ", ""), "hex");
const ascii = (text: string): Buffer => Buffer.from(text, "latin1");

const riff = (bytes: Buffer): string => {
  const form = bytes.toString("latin1", 8, 12);
  if (form === "WEBP") return "image/webp";
  return form === "WAVE" ? "audio/wav" : "application/octet-stream";
};

/** Of an ISO base media file, by its major brand. */
const isoMedia = (bytes: Buffer): string => {
  const brand = bytes.toString("latin1", 8, 12);
  if (brand === "avif" || brand === "avis") return "image/avif";
  if (/^(?:heic|heix|heim|heis|mif1|msf1)$/.test(brand)) return "image/heic";
  return /^M4[AB] $/.test(brand) ? "audio/mp4" : "video/mp4";
};

/** A container of sound or of film: the names of its codecs say which. */
const matroska = (bytes: Buffer): string => {
  const has = (text: string): boolean => bytes.includes(ascii(text));
  if (!has("webm") && !has("matroska")) return "application/octet-stream";
  return `${has("A_") && !has("V_") ? "audio" : "video"}/${has("webm") ? "webm" : "x-matroska"}`;
};

const ogg = (bytes: Buffer): string => (bytes.includes(ascii("theora")) ? "video/ogg" : "audio/ogg");

/** Layer III, and no reserved bit rate or sample rate: two bytes alone are too few to tell it from noise. */
const mp3 = (bytes: Buffer): string => {
  const third = bytes[2] ?? 0xff;
  return third >> 4 !== 0xf && third >> 4 !== 0 && ((third >> 2) & 3) !== 3 ? "audio/mpeg" : "application/octet-stream";
};

const SIGNATURES: readonly Signature[] = [
  { magic: hex("89 50 4e 47 0d 0a 1a 0a"), type: "image/png" },
  { magic: hex("ff d8 ff"), type: "image/jpeg" },
  { magic: ascii("GIF87a"), type: "image/gif" },
  { magic: ascii("GIF89a"), type: "image/gif" },
  { magic: ascii("RIFF"), type: riff },
  { at: 4, magic: ascii("ftyp"), type: isoMedia },
  { magic: hex("1a 45 df a3"), type: matroska },
  { magic: ascii("OggS"), type: ogg },
  { magic: ascii("ID3"), type: "audio/mpeg" },
  ...["ff fb", "ff fa", "ff f3", "ff f2"].map((bytes) => ({ magic: hex(bytes), type: mp3 })),
  { magic: hex("ff f1"), type: "audio/aac" },
  { magic: hex("ff f9"), type: "audio/aac" },
  { magic: ascii("fLaC"), type: "audio/flac" },
  { magic: ascii("%PDF-"), type: "application/pdf" },
  { magic: hex("50 4b 03 04"), type: "application/zip" },
  { magic: hex("1f 8b 08"), type: "application/gzip" },
];

/** `isCut`: a character may have lost its end. */
function isText(bytes: Buffer, isCut: boolean): boolean {
  if (bytes.some((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d))
    return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: isCut });
    return true;
  } catch {
    return false;
  }
}
