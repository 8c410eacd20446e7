/**
 * Files: encrypted with a key of their own, which the message has; the platform keeps only the encrypted bytes.
 * Its hash and a MAC say that they are those that the sender encrypted.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import { type FeatureContext, type Media, type MediaKind, type OutgoingFile, SvcError } from "@svc/contract";
import { downloadMedia, fieldsOf, parseJson, platformCall, textOf } from "@svc/kit";
import { type Connection, type WebSection, mediaOrigin, uploadOrigin } from "./connection.ts";

const MIB = 1_048_576;
/** Files are whole in memory, twice. */
export const MAX_MEDIA_BYTES = 25 * MIB;
const KEY_BYTES = 32;
const MAC_BYTES = 10;
const BLOCK_BYTES = 16;
const WRITE_BYTES = 65_536;
const DIRECT_PATH = /^\/[A-Za-z0-9/._~?&=%+-]{1,1000}$/;

/** What a file's keys are derived for. */
const PURPOSES: Readonly<Record<MediaKind, string>> = {
  image: "WhatsApp Image Keys",
  audio: "WhatsApp Audio Keys",
  video: "WhatsApp Video Keys",
  document: "WhatsApp Document Keys",
  sticker: "WhatsApp Image Keys",
};

/** `InboundMedia.ref` of a file; undefined for one that can't be fetched. */
export function mediaRef(
  kind: MediaKind,
  file: {
    readonly directPath?: string | null | undefined;
    readonly mediaKey?: Uint8Array | null | undefined;
    readonly fileEncSha256?: Uint8Array | null | undefined;
  },
): string | undefined {
  const { directPath: path, mediaKey: key, fileEncSha256: sum } = file;
  if (!path || !DIRECT_PATH.test(path) || key?.byteLength !== KEY_BYTES || sum?.byteLength !== KEY_BYTES)
    return undefined;
  return JSON.stringify({ kind, path, key: base64(key), sum: base64(sum) });
}

export function inboundMedia(
  section: WebSection,
  { clock, fetch }: Pick<FeatureContext, "clock" | "fetch">,
): Media["fetch"] {
  return async ({ ref, mimeType }, write, signal) => {
    const { kind, path, key, sum } = referred(ref);
    const chunks: Uint8Array[] = [];
    await downloadMedia(fetch, {
      url: `${mediaOrigin(section)}${path}`,
      maxBytes: MAX_MEDIA_BYTES + MAC_BYTES + BLOCK_BYTES,
      redirects: "none",
      write: async (chunk) => void chunks.push(chunk.slice()),
      signal,
      nowMs: clock.now(),
    });
    const plain = decrypted(Buffer.concat(chunks), { kind, key, sum });
    for (let at = 0; at < plain.byteLength; at += WRITE_BYTES) await write(plain.subarray(at, at + WRITE_BYTES));
    return mimeType === undefined ? {} : { mimeType };
  };
}

interface Referred {
  readonly kind: MediaKind;
  readonly path: string;
  readonly key: Buffer;
  readonly sum: Buffer;
}

/** Throws MEDIA_REFUSED. */
function referred(ref: string): Referred {
  const { kind, path, key, sum } = fieldsOf(parseJson(Buffer.from(ref)));
  const found = { kind: textOf(kind) ?? "", path: textOf(path) ?? "", key: bytesOf(key), sum: bytesOf(sum) };
  const isSound = Object.hasOwn(PURPOSES, found.kind) && DIRECT_PATH.test(found.path);
  if (!isSound || found.key.byteLength !== KEY_BYTES || found.sum.byteLength !== KEY_BYTES) {
    throw refused("The reference to the file is not one of the platform's.");
  }
  return found as Referred;
}

const bytesOf = (value: unknown): Buffer => Buffer.from(typeof value === "string" ? value : "", "base64");
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const refused = (message: string): SvcError => new SvcError("MEDIA_REFUSED", message);

function keysOf(kind: MediaKind, key: Uint8Array): { iv: Buffer; cipher: Buffer; mac: Buffer } {
  const all = Buffer.from(hkdfSync("sha256", key, "", PURPOSES[kind], 112));
  return { iv: all.subarray(0, 16), cipher: all.subarray(16, 48), mac: all.subarray(48, 80) };
}

/** Throws MEDIA_REFUSED for content that its sender did not encrypt. */
function decrypted(bytes: Buffer, { kind, key, sum }: Omit<Referred, "path">): Buffer {
  const { iv, cipher, mac } = keysOf(kind, key);
  const sealed = bytes.subarray(0, -MAC_BYTES);
  const sentMac = bytes.subarray(-MAC_BYTES);
  const own = createHmac("sha256", mac).update(iv).update(sealed).digest().subarray(0, MAC_BYTES);
  const isWhole = createHash("sha256").update(bytes).digest().equals(sum);
  if (!isWhole || sentMac.byteLength !== MAC_BYTES || !timingSafeEqual(sentMac, own)) {
    throw refused("The checksum of the file differs from that of the sent file.");
  }
  const decipher = createDecipheriv("aes-256-cbc", cipher, iv);
  const plain = Buffer.concat([decipher.update(sealed), decipher.final()]);
  if (plain.byteLength > MAX_MEDIA_BYTES) throw refused(`The file is larger than ${MAX_MEDIA_BYTES / MIB} MiB.`);
  return plain;
}

export interface Uploaded {
  readonly url: string;
  readonly directPath: string;
  readonly mediaKey: Uint8Array;
  readonly fileSha256: Uint8Array;
  readonly fileEncSha256: Uint8Array;
  readonly fileLength: number;
}

const UPLOAD_PATHS: Readonly<Record<MediaKind, string>> = {
  image: "/mms/image",
  audio: "/mms/audio",
  video: "/mms/video",
  document: "/mms/document",
  sticker: "/mms/image",
};
const UPLOAD_LIMIT_MS = 120_000;

/** Throws DELIVERY_REFUSED for what the platform does not take, and as `platformCall`. */
export async function upload(
  connection: Connection,
  { section, context }: { readonly section: WebSection; readonly context: Pick<FeatureContext, "clock" | "fetch"> },
  file: OutgoingFile,
  signal: AbortSignal,
): Promise<Uploaded> {
  const bytes = await file.read();
  if (bytes.byteLength === 0) throw new SvcError("DELIVERY_REFUSED", "The file is empty.");
  if (bytes.byteLength > MAX_MEDIA_BYTES) throw new SvcError("DELIVERY_REFUSED", "The file is too large.");
  const mediaKey = randomBytes(KEY_BYTES);
  const { iv, cipher, mac } = keysOf(file.kind, mediaKey);
  const aes = createCipheriv("aes-256-cbc", cipher, iv);
  const sealed = Buffer.concat([aes.update(bytes), aes.final()]);
  const tag = createHmac("sha256", mac).update(iv).update(sealed).digest().subarray(0, MAC_BYTES);
  const body = Buffer.concat([sealed, tag]);
  const fileEncSha256 = createHash("sha256").update(body).digest();
  const { hosts, auth } = await connection.socket.refreshMediaConn(false);
  const [origin] = hosts.flatMap(({ hostname }) => uploadOrigin(section, hostname) ?? []);
  if (origin === undefined) throw new SvcError("DELIVERY_FAILED", "The platform names no file host of its own.");
  const token = fileEncSha256.toString("base64url");
  const answer = await platformCall(context.fetch, {
    url: `${origin}${UPLOAD_PATHS[file.kind]}/${token}?auth=${encodeURIComponent(auth)}&token=${token}`,
    method: "POST",
    headers: { "content-type": "application/octet-stream", origin: "https://web.whatsapp.com" },
    body,
    timeoutMs: UPLOAD_LIMIT_MS,
    signal,
    nowMs: context.clock.now(),
  });
  const { url, direct_path: directPath } = fieldsOf(answer.json);
  if (textOf(directPath) === undefined)
    throw new SvcError("DELIVERY_FAILED", "The platform took a file and told no path of it.");
  return {
    url: textOf(url) ?? "",
    directPath: textOf(directPath)!,
    mediaKey,
    fileSha256: createHash("sha256").update(bytes).digest(),
    fileEncSha256,
    fileLength: bytes.byteLength,
  };
}
