/**
 * Signatures in the format of minisign (https://jedisct1.github.io/minisign/): Ed25519 over the BLAKE2b-512 of the file, and a second
 * one over the first and the trusted comment. The older form, over the file itself, is refused: every minisign since 2022 writes this one.
 */
import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { SvcError } from "@svc/contract";

export interface PublicKey {
  /** Eight bytes as hex, in their order in the file; only tells keys apart. */
  readonly id: string;
  readonly key: KeyObject;
}

const KEY_ALGORITHM = "Ed";
const SIGNATURE_ALGORITHM = "ED";
/** DER of an Ed25519 key up to its 32 bytes (RFC 8410). */
const SPKI_PREFIX = Buffer.from("302a300506032b6570032100", "hex");
const TRUSTED = "trusted comment: ";

/** Takes the key's line, or a whole `.pub` file. Throws USAGE. */
export function parsePublicKey(text: string): PublicKey {
  const line = text
    .split(/\r?\n/)
    .map((each) => each.trim())
    .findLast((each) => each !== "");
  const bytes = fromBase64(line ?? "", 42);
  if (bytes?.toString("latin1", 0, 2) !== KEY_ALGORITHM) {
    throw new SvcError("USAGE", "This is not a public key of minisign.", {
      hint: "A key is one line of 56 characters that begins with RW.",
    });
  }
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, bytes.subarray(10)]), format: "der", type: "spki" });
  return { id: bytes.toString("hex", 2, 10), key };
}

/** The trusted comment, when one of `keys` signed exactly these bytes. Throws UPDATE_REFUSED. */
export function verifyMinisign(file: Uint8Array, signature: string, keys: readonly PublicKey[]): string {
  const [untrusted = "", first = "", trusted = "", second = "", ...rest] = signature
    .replace(/\r?\n$/, "")
    .split(/\r?\n/);
  const own = fromBase64(first, 74);
  const global = fromBase64(second, 64);
  const isWhole = untrusted.startsWith("untrusted comment: ") && trusted.startsWith(TRUSTED) && rest.length === 0;
  if (!own || !global || !isWhole) throw refused("its signature file is damaged");
  if (own.toString("latin1", 0, 2) !== SIGNATURE_ALGORITHM) throw refused("its signature has an unsupported algorithm");
  const signer = keys.find(({ id }) => id === own.toString("hex", 2, 10));
  if (!signer) throw refused("it is signed with a key that this build does not trust");
  const made = own.subarray(10);
  const comment = trusted.slice(TRUSTED.length);
  const digest = createHash("blake2b512").update(file).digest();
  const isGood =
    verify(null, digest, signer.key, made) &&
    verify(null, Buffer.concat([made, Buffer.from(comment)]), signer.key, global);
  if (!isGood) throw refused("its signature is wrong");
  return comment;
}

/** Buffer.from would take what is no base64, and drop it. */
function fromBase64(text: string, bytes: number): Buffer | undefined {
  const decoded = Buffer.from(text, "base64");
  return decoded.length === bytes && decoded.toString("base64") === text ? decoded : undefined;
}

const refused = (why: string): SvcError =>
  new SvcError("UPDATE_REFUSED", `The release is refused: ${why}. Nothing was changed.`, {
    hint: "Try again later. If it stays so, report it as SECURITY.md says: the release may have been tampered with.",
  });
