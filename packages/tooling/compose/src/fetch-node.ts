/** Another platform's Node, for a cross-build: from the package registry, checked against the lockfile, kept in the cache. */
import { SvcError } from "@svc/contract";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { scratchDir } from "./scratch.ts";
import { targetName, type Target } from "./target.ts";
import { cacheDir, readJson } from "./workspace.ts";

const run = promisify(execFile);
const NPM = process.platform === "win32" ? "npm.cmd" : "npm";

/** @returns The folder of the unpacked package. @throws SvcError BUILD_FAILED when it can't be had or is not the locked one. */
export async function fetchNode(root: string, target: Target, npm: string = NPM): Promise<string> {
  const version = pinnedVersion(root, target);
  const kept = join(cacheDir(root), "fetched", `${target.nodePackage}-${version}`);
  if (existsSync(join(kept, target.nodePath))) return kept;
  const temporary = scratchDir(join(cacheDir(root), "fetched"));
  try {
    const spec = `${target.nodePackage}@${version}`;
    const { stdout } = await run(npm, ["pack", spec, "--json", "--ignore-scripts", "--pack-destination", temporary], {
      cwd: root,
    });
    const tarball = join(temporary, packedName(stdout));
    verify(tarball, lockedIntegrity(root, spec));
    await run("tar", ["-xzf", tarball, "-C", temporary]);
    renameSync(join(temporary, "package"), kept);
    return kept;
  } catch (error) {
    if (existsSync(join(kept, target.nodePath))) return kept; // Another build was faster.
    if (error instanceof SvcError) throw error;
    throw new SvcError("BUILD_FAILED", `The Node of ${targetName(target)} could not be fetched.`, {
      hint: `Is the package registry reachable? Try: npm pack ${target.nodePackage}@${version}`,
      cause: error,
    });
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function pinnedVersion(root: string, target: Target): string {
  const { optionalDependencies } = readJson(join(root, "package.json")) as {
    optionalDependencies?: Record<string, string>;
  };
  const version = optionalDependencies?.[target.nodePackage];
  if (version !== undefined) return version;
  throw new SvcError("BUILD_FAILED", `${target.nodePackage} is not pinned in the root package.json.`, {
    hint: "Add it to optionalDependencies with an exact version.",
  });
}

/** npm prints an array of what it packed; version 12 an object by name. */
function packedName(json: string): string {
  const packed = JSON.parse(json) as Record<string, { filename: string }>;
  const [first] = Object.values(packed);
  if (first === undefined) throw new Error("npm packed nothing");
  return first.filename;
}

/** The sha512 that the lockfile was written with. */
function lockedIntegrity(root: string, spec: string): string {
  const lines = readFileSync(join(root, "pnpm-lock.yaml"), "utf8").split("\n");
  const at = lines.findIndex((line) => line.trim() === `${spec}:`);
  const integrity = /integrity: (sha512-[A-Za-z0-9+/=]+)/.exec(lines[at + 1] ?? "")?.[1];
  if (at !== -1 && integrity !== undefined) return integrity;
  throw new SvcError("BUILD_FAILED", `The lockfile has no hash for ${spec}.`, { hint: "Run pnpm install." });
}

function verify(tarball: string, integrity: string): void {
  const actual = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  if (actual === integrity) return;
  throw new SvcError("BUILD_FAILED", "The fetched Node does not match the lockfile; it was deleted.", {
    hint: "The registry or something on the way to it answered with another file.",
  });
}
