/** The Node executable a binary is made of: from the registry package of the target, stripped, kept by its hash. */
import { SvcError } from "@svc/contract";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, createReadStream, existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { fetchPackage } from "./fetch-package.ts";
import { scratchDir } from "./scratch.ts";
import { targetName, type Target } from "./target.ts";
import { cacheDir, readJson } from "./workspace.ts";

export interface BaseNode {
  readonly file: string;
  readonly package: string;
  readonly version: string;
  /** Of the executable in the registry package. */
  readonly sha256: string;
  /** First line of `strip --version`, or null: two machines make the same binary only when these are equal. */
  readonly strippedBy: string | null;
  readonly license: string;
}

const run = promisify(execFile);

/** @throws SvcError BUILD_FAILED when the target's Node is neither installed nor to be had. */
export async function baseNode(root: string, target: Target, note: (text: string) => void): Promise<BaseNode> {
  const dir = await nodeDir(root, target);
  const source = join(dir, target.nodePath);
  const { version, license = "UNKNOWN" } = readJson(join(dir, "package.json")) as { version: string; license?: string };
  const sha256 = await sha256Of(source);
  const strip = await findStrip(target);
  if (strip === undefined) note(stripMissing(target));
  const base = { package: target.nodePackage, version, sha256, license };
  const file = await stripped(root, source, sha256, strip);
  return { ...base, file, strippedBy: strip?.version ?? null };
}

/** Where the target's registry package is installed; fetched into the cache when it is another platform's. */
async function nodeDir(root: string, target: Target): Promise<string> {
  const installed = join(root, "node_modules", target.nodePackage);
  if (existsSync(join(installed, target.nodePath))) return installed;
  const { optionalDependencies } = readJson(join(root, "package.json")) as {
    optionalDependencies?: Record<string, string>;
  };
  const version = optionalDependencies?.[target.nodePackage];
  if (version !== undefined) return fetchPackage(root, target.nodePackage, version);
  throw new SvcError("BUILD_FAILED", `${target.nodePackage} is not pinned in the root package.json.`, {
    hint: "Add it to optionalDependencies with an exact version.",
  });
}

interface Strip {
  readonly command: string;
  readonly version: string;
}

async function findStrip(target: Target): Promise<Strip | undefined> {
  // Stripping a Mach-O or PE file was never tried: those are used as they come.
  if (target.os !== "linux" || process.platform !== "linux") return undefined;
  const triple = target.cpu === "arm64" ? "aarch64-linux-gnu-strip" : "x86_64-linux-gnu-strip";
  const commands = targetName(target) === `linux-${process.arch}` ? ["strip", triple] : [triple, "llvm-strip"];
  for (const command of commands) {
    try {
      const { stdout } = await run(command, ["--version"]);
      return { command, version: stdout.split("\n")[0] ?? command };
    } catch {
      // Not installed; the next one may be.
    }
  }
  return undefined;
}

function stripMissing(target: Target): string {
  if (target.os !== "linux") return `the base Node of ${targetName(target)} is used unstripped`;
  const binutils = target.cpu === process.arch ? "binutils" : "binutils for the target";
  return `no strip here (${binutils}): the binary is about 33 MB larger, and differs from one made where there is`;
}

/** A stripped copy. Stripping must come first: a binary stripped after its content was added crashes at start. */
async function stripped(root: string, source: string, sha256: string, strip: Strip | undefined): Promise<string> {
  if (strip === undefined) return source;
  const key = createHash("sha256").update(`${sha256} ${strip.version}`).digest("hex").slice(0, 32);
  const file = join(cacheDir(root), "node", key);
  if (existsSync(file) && statSync(file).size > 0) return file;
  // Two builds may do this at once: each strips a copy of its own, the last rename wins with the same bytes.
  const work = scratchDir(join(cacheDir(root), "node"));
  const temporary = join(work, "node");
  try {
    copyFileSync(source, temporary);
    await run(strip.command, ["--strip-all", temporary]);
    renameSync(temporary, file);
  } catch (error) {
    throw new SvcError("BUILD_FAILED", `${strip.command} could not strip the base Node.`, {
      hint: "Is there enough room on the disk (300 MB)?",
      cause: error,
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return file;
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  if (statSync(file).size < 1_000_000) return hash.update(readFileSync(file)).digest("hex");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}
