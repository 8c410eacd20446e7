/** Builds in `dist/` as a release has them: compressed, with a manifest and checksums, both signed. */
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import { SvcError } from "@svc/contract";
import {
  MANIFEST_FILE,
  type ReleaseBuild,
  releaseFileName,
  type ReleaseManifest,
  SIGNATURE_SUFFIX,
} from "@svc/kit/releases";
import { SCHEMA_VERSION } from "@svc/store";
import { type SigningKey, signFile } from "./signing.ts";

const CHECKSUMS_FILE = "SHA256SUMS";

export interface Build {
  /** As `--version` prints them. */
  readonly version: string;
  readonly commit: string;
  readonly profile: string;
  readonly target: string;
  /** The binary, and its name in packages. */
  readonly file: string;
  readonly name: string;
  readonly bytes: number;
}

/** Reads the record that `pnpm build` wrote. Throws USAGE. */
export function readBuild(dir: string): Build {
  let record;
  try {
    record = JSON.parse(readFileSync(join(dir, "build.json"), "utf8")) as Record<
      "version" | "commit" | "target" | "profile",
      string
    > & {
      with: string[];
      without: string[];
      binary: { file: string; bytes: number };
    };
  } catch (cause) {
    throw new SvcError("USAGE", `${dir} holds no build.`, { hint: "Make one with: pnpm build minimal", cause });
  }
  const { version, commit, target, profile, binary } = record;
  if (record.with.length + record.without.length > 0) {
    throw new SvcError("USAGE", `${dir} is a custom build; releases hold whole profiles.`);
  }
  return { version, commit, profile, target, file: join(dir, binary.file), name: binary.file, bytes: binary.bytes };
}

/** How much time goes into size: tests install what was packed in a second. */
export type Compression = "small" | "fast";

/** Writes `svc-<version>-<profile>-<target>.gz` into `out`; the same binary gives the same bytes. */
export async function packBuild(
  { version, profile, target, file, bytes }: Build,
  out: string,
  compression: Compression = "small",
): Promise<ReleaseBuild> {
  const level = compression === "small" ? constants.Z_BEST_COMPRESSION : constants.Z_BEST_SPEED;
  const name = releaseFileName(version, profile, target);
  const packed = join(out, name);
  await pipeline(createReadStream(file), createGzip({ level }), createWriteStream(packed));
  const [own, binary] = await Promise.all([hashOf(packed), hashOf(file)]);
  return { profile, target, file: name, ...own, binary: { sha256: binary.sha256, bytes } };
}

/** Writes the manifest. Throws USAGE when the builds are of different sources. */
export function writeManifest(builds: readonly Build[], packed: readonly ReleaseBuild[], out: string): ReleaseManifest {
  const [first] = builds;
  if (!first) throw new SvcError("USAGE", "A release needs a build.");
  const { version, commit } = first;
  if (builds.some((build) => build.version !== version || build.commit !== commit)) {
    throw new SvcError("USAGE", "The builds are of different commits.", { hint: "Build them again: pnpm release" });
  }
  const manifest = {
    format: 1 as const,
    version,
    commit,
    schema_version: SCHEMA_VERSION,
    builds: [...packed],
  } satisfies ReleaseManifest;
  writeFileSync(join(out, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** Writes `SHA256SUMS` of `files`, and signs it and the manifest where there is a key. */
export async function writeChecksums(
  files: readonly string[],
  out: string,
  signing: { readonly key: SigningKey; readonly comment: string } | undefined,
): Promise<void> {
  const lines = await Promise.all(
    files.toSorted().map(async (file) => `${(await hashOf(join(out, file))).sha256}  ${basename(file)}\n`),
  );
  writeFileSync(join(out, CHECKSUMS_FILE), lines.join(""));
  if (!signing) return;
  for (const name of [MANIFEST_FILE, CHECKSUMS_FILE]) {
    const text = signFile(readFileSync(join(out, name)), signing.key, signing.comment);
    writeFileSync(join(out, `${name}${SIGNATURE_SUFFIX}`), text);
  }
}

async function hashOf(file: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}
