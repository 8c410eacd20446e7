/** Keys and signatures in minisign's format, so that minisign itself can make, use and check them. */
import { createHash, createPrivateKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { blake2b } from "@noble/hashes/blake2.js";
import { SvcError } from "@svc/contract";

export interface KeyPair {
  /** Texts of the two files. */
  readonly publicKey: string;
  readonly secretKey: string;
}

export interface SigningKey {
  readonly id: Buffer;
  /** Ed25519, 32 bytes. */
  readonly seed: Buffer;
  readonly publicKey: Buffer;
}

/** DER of an Ed25519 secret key up to its 32 bytes (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
/** Ed25519; no encryption; checksum by BLAKE2b-256. */
const PLAIN_SECRET = Buffer.from("Ed\0\0B2", "latin1");
/** Salt and limits of the key derivation, which an unencrypted key has none of. */
const NO_DERIVATION = Buffer.alloc(32 + 8 + 8);

/** The secret key is not encrypted: keep it where secrets are kept, as `minisign -G -W` would. */
export function makeKeyPair(): KeyPair {
  const { privateKey } = generateKeyPairSync("ed25519");
  const { d, x } = privateKey.export({ format: "jwk" });
  const key = { id: randomBytes(8), seed: Buffer.from(d!, "base64url"), publicKey: Buffer.from(x!, "base64url") };
  const both = Buffer.concat([key.id, key.seed, key.publicKey]);
  const secret = Buffer.concat([PLAIN_SECRET, NO_DERIVATION, both, checksum(both)]);
  return {
    publicKey: `untrusted comment: minisign public key of svc releases\n${publicLine(key)}\n`,
    secretKey: `untrusted comment: minisign secret key of svc releases, unencrypted\n${secret.toString("base64")}\n`,
  };
}

export const publicLine = ({ id, publicKey }: SigningKey): string =>
  Buffer.concat([Buffer.from("Ed"), id, publicKey]).toString("base64");

/** Takes the text of an unencrypted key file, or its second line. Throws USAGE. */
export function parseSecretKey(text: string): SigningKey {
  const line = text.trim().split(/\r?\n/).at(-1) ?? "";
  const bytes = Buffer.from(line, "base64");
  if (bytes.length !== 158 || bytes.toString("latin1", 0, 2) !== "Ed")
    throw unusable("This is no minisign secret key.");
  if (bytes.readUInt16LE(2) !== 0) throw unusable("The secret key is encrypted.");
  const both = bytes.subarray(54, 126);
  const sum = bytes.subarray(126);
  // minisign writes no checksum where it encrypts nothing.
  const isWhole = sum.equals(checksum(both)) || sum.every((byte) => byte === 0);
  if (!isWhole) throw unusable("The secret key is damaged.");
  return { id: both.subarray(0, 8), seed: both.subarray(8, 40), publicKey: both.subarray(40) };
}

const unusable = (message: string): SvcError =>
  new SvcError("USAGE", message, {
    hint: "pnpm release --new-key makes a usable one. With an encrypted key: pnpm release --no-sign, then minisign -S.",
  });

const checksum = (both: Uint8Array): Uint8Array => blake2b(Buffer.concat([Buffer.from("Ed"), both]), { dkLen: 32 });

/** The text of `<file>.minisig`. */
export function signFile(file: Uint8Array, key: SigningKey, trustedComment: string): string {
  const secret = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, key.seed]), format: "der", type: "pkcs8" });
  const signature = sign(null, createHash("blake2b512").update(file).digest(), secret);
  const global = sign(null, Buffer.concat([signature, Buffer.from(trustedComment)]), secret);
  return [
    "untrusted comment: signature of an svc release",
    Buffer.concat([Buffer.from("ED"), key.id, signature]).toString("base64"),
    `trusted comment: ${trustedComment}`,
    global.toString("base64"),
    "",
  ].join("\n");
}
