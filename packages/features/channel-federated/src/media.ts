/**
 * Files, both ways. In an encrypted room a file is encrypted with a key of its own, which travels in the message.
 * https://spec.matrix.org/v1.16/client-server-api/#sending-encrypted-attachments
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { type FeatureContext, type FetchedMedia, type InboundMedia, type Json, SvcError } from "@svc/contract";
import { downloadMedia, type Fields, fieldsOf, parseJson, pathPart, wordOf } from "@svc/kit";
import type { MatrixApi } from "./api.ts";

/** Homeservers allow 50 MiB or more as they come; a larger file is refused by those that do not. */
export const MAX_FILE_BYTES = 52_428_800;
const UPLOAD_LIMIT_MS = 300_000;

/** `EncryptedFile`, without its `v`. */
interface FileKey {
  /** AES-256-CTR, unpadded base64url. */
  readonly k: string;
  /** Unpadded base64. */
  readonly iv: string;
  readonly sha256: string;
}

/** What a message's file is fetched by: its `mxc` address, and for an encrypted one its key. Undefined: it has none. */
export function mediaRef(content: Fields): string | undefined {
  const file = fieldsOf(content["file"]);
  const url = mxcOf(wordOf(file["url"]));
  if (url !== undefined) {
    const key = keyOf(file);
    return key && `${url}#${Buffer.from(JSON.stringify(key)).toString("base64url")}`;
  }
  return mxcOf(wordOf(content["url"]));
}

const mxcOf = (text: string | undefined): string | undefined =>
  text !== undefined && MXC.test(text) ? text : undefined;

const MXC = /^mxc:\/\/([^\s/?#]{1,255})\/([\w=.-]{1,255})$/;

function keyOf(file: Fields): FileKey | undefined {
  const { k, alg } = fieldsOf(file["key"]);
  const [iv, sha256] = [file["iv"], fieldsOf(file["hashes"])["sha256"]];
  if (alg !== "A256CTR" || typeof k !== "string" || typeof iv !== "string" || typeof sha256 !== "string")
    return undefined;
  const isSound =
    Buffer.from(k, "base64url").length === 32 &&
    Buffer.from(iv, "base64").length === 16 &&
    Buffer.from(sha256, "base64").length === 32;
  return isSound ? { k, iv, sha256 } : undefined;
}

/** Throws MEDIA_REFUSED for what is no file of the platform, is too large, or is not what its message said; REMOTE_*. */
export async function fetchMedia(
  {
    api,
    context: { fetch, clock },
  }: { readonly api: MatrixApi; readonly context: Pick<FeatureContext, "fetch" | "clock"> },
  { ref }: Pick<InboundMedia, "ref">,
  write: (chunk: Uint8Array) => Promise<void>,
  signal: AbortSignal,
): Promise<FetchedMedia> {
  signal.throwIfAborted();
  const [address = "", sealed] = ref.split("#", 2);
  const [, server, id] = MXC.exec(address) ?? [];
  const key = sealed === undefined ? undefined : keyIn(sealed);
  if (server === undefined || id === undefined || (sealed !== undefined && key === undefined)) {
    throw refused("The message does not say where its file is.");
  }
  const path = `client/v1/media/download/${pathPart(server, "MEDIA_REFUSED")}/${pathPart(id, "MEDIA_REFUSED")}`;
  const opened = key && opener(key, write);
  const { mimeType } = await downloadMedia(fetch, {
    ...(await api.download(path)),
    maxBytes: MAX_FILE_BYTES,
    redirects: "same-host",
    write: opened?.write ?? write,
    signal,
    nowMs: clock.now(),
  });
  await opened?.end();
  // An encrypted file is stored without its type.
  return mimeType === undefined || mimeType === "application/octet-stream" ? {} : { mimeType };
}

function keyIn(sealed: string): FileKey | undefined {
  const { k, iv, sha256 } = fieldsOf(parseJson(Buffer.from(sealed, "base64url")));
  return keyOf({ key: { k: k ?? null, alg: "A256CTR" }, iv: iv ?? null, hashes: { sha256: sha256 ?? null } });
}

/** What it wrote of a file whose digest is wrong is thrown away by who called. */
function opener({ k, iv, sha256 }: FileKey, write: (chunk: Uint8Array) => Promise<void>) {
  const cipher = createDecipheriv("aes-256-ctr", Buffer.from(k, "base64url"), Buffer.from(iv, "base64"));
  const digest = createHash("sha256");
  return {
    async write(chunk: Uint8Array) {
      digest.update(chunk);
      const plain = cipher.update(chunk);
      if (plain.length > 0) await write(plain);
    },
    async end() {
      const rest = cipher.final();
      if (rest.length > 0) await write(rest);
      if (!digest.digest().equals(Buffer.from(sha256, "base64"))) {
        throw refused("The file differs from the one that the message names.");
      }
    },
  };
}

export interface Upload {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly mimeType: string;
  readonly isEncrypted: boolean;
}

/** `url`, or `file` for an encrypted one: what the message says of it. Throws as `MatrixApi.call`. */
export async function uploadFile(
  api: MatrixApi,
  { bytes, name, mimeType, isEncrypted }: Upload,
  signal: AbortSignal,
): Promise<Fields> {
  const sealed = isEncrypted ? seal(bytes) : undefined;
  const answer = await api.call(
    {
      method: "POST",
      path: "media/v3/upload",
      // An encrypted file's name is told in the message alone.
      query: { filename: isEncrypted ? undefined : name },
      upload: { bytes: sealed?.bytes ?? bytes, mimeType: isEncrypted ? "application/octet-stream" : mimeType },
      timeoutMs: UPLOAD_LIMIT_MS,
    },
    signal,
  );
  const url = mxcOf(wordOf(answer["content_uri"]));
  if (url === undefined) throw new SvcError("REMOTE_UNREACHABLE", "The homeserver's answer can't be read.");
  return sealed === undefined ? { url } : { file: { ...sealed.file, url } };
}

function seal(bytes: Uint8Array): { readonly bytes: Uint8Array; readonly file: Readonly<Record<string, Json>> } {
  const key = randomBytes(32);
  // The lower half counts blocks, and begins at 0.
  const iv = Buffer.concat([randomBytes(8), Buffer.alloc(8)]);
  const cipher = createCipheriv("aes-256-ctr", key, iv);
  const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()]);
  const unpadded = (raw: Uint8Array): string => Buffer.from(raw).toString("base64").replaceAll("=", "");
  const file = {
    v: "v2",
    key: { kty: "oct", key_ops: ["encrypt", "decrypt"], alg: "A256CTR", k: key.toString("base64url"), ext: true },
    iv: unpadded(iv),
    hashes: { sha256: unpadded(createHash("sha256").update(encrypted).digest()) },
  };
  return { bytes: encrypted, file };
}

const refused = (message: string): SvcError => new SvcError("MEDIA_REFUSED", message);
