/**
 * `@svc/kit/releases`: what `svc update`, `install.sh` and the release script agree on. `release.json` says what a release holds; its
 * signature vouches for the checksums in it, and so for every file.
 */
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import { type KeyObject, createHash, createPublicKey, verify } from "node:crypto";

export const MANIFEST_FILE = "release.json";
export const SIGNATURE_SUFFIX = ".minisig";

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const bytes = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000_000));
/** A name in the release's own folder, never a path. */
const fileName = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/));
const version = v.pipe(v.string(), v.regex(/^\d{1,6}\.\d{1,6}\.\d{1,6}(?:-[0-9A-Za-z.-]{1,40})?$/));

const build = v.object({
  profile: v.string(),
  /** `linux-x64` and the like: `process.platform` and `process.arch`. */
  target: v.string(),
  /** The binary, compressed with gzip. */
  file: fileName,
  bytes,
  sha256,
  binary: v.object({ bytes, sha256 }),
});

const manifest = v.object({
  format: v.literal(1),
  version,
  commit: v.pipe(v.string(), v.regex(/^[0-9a-z-]{1,64}$/)),
  /** The database schema that its binaries write. */
  schema_version: v.pipe(v.number(), v.integer(), v.minValue(1)),
  builds: v.pipe(v.array(build), v.maxLength(200)),
});

export type ReleaseBuild = v.InferOutput<typeof build>;
export type ReleaseManifest = v.InferOutput<typeof manifest>;

/** Call it with bytes whose signature was verified. Throws UPDATE_REFUSED. */
export function parseReleaseManifest(bytes: Uint8Array): ReleaseManifest {
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw unreadable();
  }
  const result = v.safeParse(manifest, parsed);
  if (!result.success) throw unreadable();
  return result.output;
}

const unreadable = (): SvcError =>
  new SvcError("UPDATE_REFUSED", `The release's ${MANIFEST_FILE} has a form that this build does not know.`, {
    hint: "This build may be too old to update itself: install the release by hand.",
  });

export const releaseFileName = (release: string, profile: string, target: string): string =>
  `svc-${release}-${profile}-${target}.gz`;

/**
 * Signatures in the format of minisign (https://jedisct1.github.io/minisign/): Ed25519 over the BLAKE2b-512 of the file, and a second one
 * over the first and the trusted comment. The older form, over the file itself, is refused: every minisign since 2022 writes this one.
 */
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

// The order of versions as semver.org has it, without build metadata.

/** Negative: `a` is older than `b`. */
export function compareVersions(a: string, b: string): number {
  const [coreA, preA] = split(a);
  const [coreB, preB] = split(b);
  return (
    compareLists(coreA, coreB) || Number(preA.length === 0) - Number(preB.length === 0) || compareLists(preA, preB)
  );
}

function split(version: string): [core: string[], pre: string[]] {
  const dash = version.indexOf("-");
  if (dash === -1) return [version.split("."), []];
  return [version.slice(0, dash).split("."), version.slice(dash + 1).split(".")];
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const order = compareParts(a[index]!, b[index]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareParts(a: string, b: string): number {
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumberA && isNumberB) return Number(a) - Number(b);
  // Numbers come before words.
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return a < b ? -1 : Number(a > b);
}
