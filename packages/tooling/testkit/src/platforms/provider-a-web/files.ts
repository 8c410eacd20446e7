/** Files as a phone uploads them: encrypted by a key that only the message has. */
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from "node:crypto";
import type { proto } from "baileys";
import type { WebPlatform } from "./platform.ts";

const INFO = {
  image: "WhatsApp Image Keys",
  audio: "WhatsApp Audio Keys",
  video: "WhatsApp Video Keys",
  document: "WhatsApp Document Keys",
} as const;

/** A file as the phone shows it. Throws for one that is not what its message says. */
export function openedFile(sealed: Uint8Array | undefined, message: proto.IMessage): Uint8Array {
  const {
    imageMessage: image,
    audioMessage: audio,
    videoMessage: video,
    documentMessage: document,
    stickerMessage: sticker,
  } = message;
  const file = image ?? audio ?? video ?? document ?? sticker;
  if (!file || !sealed) throw new Error("the file is not on the platform");
  const kind = audio ? "audio" : video ? "video" : document ? "document" : "image";
  const { iv, cipher, mac } = keysOf(kind, file.mediaKey!);
  const hashOf = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();
  const own = createHmac("sha256", mac).update(iv).update(sealed.subarray(0, -10)).digest().subarray(0, 10);
  if (!own.equals(sealed.subarray(-10)) || !hashOf(sealed).equals(file.fileEncSha256!)) throw new Error("another file");
  const aes = createDecipheriv("aes-256-cbc", cipher, iv);
  const plain = Buffer.concat([aes.update(sealed.subarray(0, -10)), aes.final()]);
  if (!hashOf(plain).equals(file.fileSha256!) || plain.byteLength !== Number(file.fileLength))
    throw new Error("another file");
  return plain;
}

function keysOf(kind: keyof typeof INFO, mediaKey: Uint8Array) {
  const keys = Buffer.from(hkdfSync("sha256", mediaKey, "", INFO[kind], 112));
  return { iv: keys.subarray(0, 16), cipher: keys.subarray(16, 48), mac: keys.subarray(48, 80) };
}

/** The fields of the message, once the file is on the platform. */
export function uploaded(platform: WebPlatform, kind: "image" | "audio", bytes: Uint8Array) {
  const mediaKey = randomBytes(32);
  const { iv, cipher, mac } = keysOf(kind, mediaKey);
  const aes = createCipheriv("aes-256-cbc", cipher, iv);
  const sealed = Buffer.concat([aes.update(bytes), aes.final()]);
  const body = Buffer.concat([sealed, createHmac("sha256", mac).update(iv).update(sealed).digest().subarray(0, 10)]);
  const directPath = `/v/t62.7118-24/${randomBytes(8).toString("hex")}`;
  platform.files.set(directPath, body);
  const fileSha256 = createHash("sha256").update(bytes).digest();
  return {
    directPath,
    mediaKey,
    fileSha256,
    fileEncSha256: createHash("sha256").update(body).digest(),
    fileLength: bytes.byteLength,
  };
}
