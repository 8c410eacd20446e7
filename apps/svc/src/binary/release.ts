/** A release as its folder on a server has it: the signed manifest, and builds whose checksums it holds. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { SvcError } from "@svc/contract";
import {
  MANIFEST_FILE,
  parsePublicKey,
  parseReleaseManifest,
  type ReleaseBuild,
  type ReleaseManifest,
  SIGNATURE_SUFFIX,
  verifyMinisign,
} from "@svc/kit/releases";

export interface Release {
  readonly manifest: ReleaseManifest;
  /** Of the build for this profile and machine. Throws UPDATE_UNAVAILABLE. */
  buildFor(profile: string, target: string): ReleaseBuild;
  /**
   * Writes the verified binary to `file`, which must not exist. Throws UPDATE_UNREACHABLE, UPDATE_REFUSED or what the disk says; then
   * `file` may hold a part.
   */
  download(build: ReleaseBuild, file: string, signal?: AbortSignal): Promise<void>;
}

const MANIFEST_BYTES = 1_048_576;
const SIGNATURE_BYTES = 4096;
const LONGEST_MANIFEST_MS = 30_000;
const LONGEST_DOWNLOAD_MS = 30 * 60_000;

/** Reads and verifies the manifest. Throws USAGE, UPDATE_UNREACHABLE, UPDATE_REFUSED. */
export async function openRelease(folder: string, keys: readonly string[]): Promise<Release> {
  const base = folderUrl(folder);
  const trusted = keys.map(parsePublicKey);
  const [bytes, signature] = await Promise.all([
    fetchSmall(base, MANIFEST_FILE, MANIFEST_BYTES),
    fetchSmall(base, `${MANIFEST_FILE}${SIGNATURE_SUFFIX}`, SIGNATURE_BYTES),
  ]);
  verifyMinisign(bytes, signature.toString("utf8"), trusted);
  const manifest = parseReleaseManifest(bytes);
  return {
    manifest,
    buildFor(profile, target) {
      const found = manifest.builds.find((build) => build.profile === profile && build.target === target);
      if (found) return found;
      throw new SvcError("UPDATE_UNAVAILABLE", `Release ${manifest.version} has no build ${profile} for ${target}.`, {
        hint: `It has: ${manifest.builds.map((build) => `${build.profile} for ${build.target}`).join(", ")}. Build yours from the sources.`,
      });
    },
    download: (build, file, signal) => download(base, build, file, signal),
  };
}

/** Throws USAGE. Without TLS a server could hold back newer releases unseen; loopback is for tests and mirrors. */
function folderUrl(folder: string): URL {
  const url = URL.canParse(folder) ? new URL(folder.endsWith("/") ? folder : `${folder}/`) : undefined;
  const isLoopback = url && /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback)) return url;
  throw new SvcError("USAGE", "The folder of releases must be an https URL.", {
    hint: "Example: svc update --from https://example.org/svc/latest",
  });
}

async function fetchSmall(base: URL, name: string, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of bodyOf(base, name, AbortSignal.timeout(LONGEST_MANIFEST_MS))) {
    bytes += chunk.length;
    if (bytes > limit) throw refused(`${name} is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Throws UPDATE_UNREACHABLE, also when the connection breaks in the middle. */
async function* bodyOf(base: URL, name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let response: Response;
  try {
    // What comes is judged by its signature, so a redirect may lead anywhere, as those of download pages do.
    response = await fetch(new URL(name, base), { signal, headers: { "accept-encoding": "identity" } });
  } catch (cause) {
    throw unreachable(`${base.host} can't be reached`, cause);
  }
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel();
    throw unreachable(`${base.host} answered ${response.status} for ${name}`);
  }
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw unreachable(`the download of ${name} was cut off`, cause);
      });
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function download(base: URL, build: ReleaseBuild, file: string, signal?: AbortSignal): Promise<void> {
  const timeout = AbortSignal.timeout(LONGEST_DOWNLOAD_MS);
  const packed = meter(build, `${build.file} is longer than its manifest says`);
  const binary = meter(build.binary, "the binary is longer than its manifest says");
  try {
    await pipeline(
      bodyOf(base, build.file, signal ? AbortSignal.any([signal, timeout]) : timeout),
      packed.count,
      createGunzip(),
      binary.count,
      (source) => writeNew(file, source),
    );
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (code === "Z_BUF_ERROR") throw truncated(build.file, error);
    if (code.startsWith("Z_")) throw refused(`${build.file} is damaged`, error);
    throw error;
  }
  if (packed.bytes() < build.bytes) throw truncated(build.file);
  if (!packed.isWhole() || !binary.isWhole()) throw refused(`the checksum of ${build.file} is wrong`);
}

/** On disk when it resolves. */
async function writeNew(file: string, source: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await open(file, "wx", 0o700);
  try {
    for await (const chunk of source) await handle.writeFile(chunk);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Counts and hashes what passes; ends the stream past the size that was promised, so that no server fills the disk. */
function meter({ bytes: promised, sha256 }: { bytes: number; sha256: string }, tooLong: string) {
  const hash = createHash("sha256");
  let bytes = 0;
  let digest: string | undefined;
  return {
    async *count(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of source) {
        bytes += chunk.length;
        if (bytes > promised) throw refused(tooLong);
        hash.update(chunk);
        yield chunk;
      }
    },
    bytes: () => bytes,
    isWhole: (): boolean => bytes === promised && (digest ??= hash.digest("hex")) === sha256,
  };
}

const refused = (why: string, cause?: unknown): SvcError =>
  new SvcError("UPDATE_REFUSED", `The release is refused: ${why}. Nothing was changed.`, {
    hint: "Try again later. If it stays so, report it as SECURITY.md says: the release may have been tampered with.",
    cause,
  });

const unreachable = (why: string, cause?: unknown): SvcError =>
  new SvcError("UPDATE_UNREACHABLE", `The release can't be downloaded: ${why}. Nothing was changed.`, {
    hint: "Is this machine online? Try again, or name another address with --from.",
    cause,
  });

const truncated = (name: string, cause?: unknown): SvcError =>
  unreachable(`the download of ${name} was cut off`, cause);
