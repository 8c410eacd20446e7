/** What a build for another platform needs of it (its Node, its addons): from the registry, checked against the lockfile, kept in the cache. */
import { SvcError } from "@svc/contract";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { scratchDir } from "./scratch.ts";
import { cacheDir } from "./workspace.ts";

const run = promisify(execFile);
const NPM = process.platform === "win32" ? "npm.cmd" : "npm";

/** @returns The folder of the unpacked package. @throws SvcError BUILD_FAILED when it can't be had or is not the locked one. */
export async function fetchPackage(root: string, name: string, version: string, npm: string = NPM): Promise<string> {
  const cached = join(cacheDir(root), "fetched", `${name.replaceAll("/", "+")}-${version}`);
  const isCached = (): boolean => existsSync(join(cached, "package.json"));
  if (isCached()) return cached;
  const temporary = scratchDir(join(cacheDir(root), "fetched"));
  try {
    const spec = `${name}@${version}`;
    const { stdout } = await run(npm, ["pack", spec, "--json", "--ignore-scripts", "--pack-destination", temporary], {
      cwd: root,
    });
    const tarball = join(temporary, packedName(stdout));
    verify(tarball, lockedIntegrity(root, spec));
    await run("tar", ["-xzf", tarball, "-C", temporary]);
    renameSync(join(temporary, "package"), cached);
    return cached;
  } catch (error) {
    if (isCached()) return cached; // Another build was faster.
    if (error instanceof SvcError) throw error;
    throw new SvcError("BUILD_FAILED", `${name} ${version} could not be fetched.`, {
      hint: `Is the package registry reachable? Try: npm pack ${name}@${version}`,
      cause: error,
    });
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
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
  const at = lines.findIndex((line) => [`${spec}:`, `'${spec}':`].includes(line.trim()));
  const integrity = /integrity: (sha512-[A-Za-z0-9+/=]+)/.exec(lines[at + 1] ?? "")?.[1];
  if (at !== -1 && integrity !== undefined) return integrity;
  throw new SvcError("BUILD_FAILED", `The lockfile has no hash for ${spec}.`, { hint: "Run pnpm install." });
}

function verify(tarball: string, integrity: string): void {
  const actual = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  if (actual === integrity) return;
  throw new SvcError("BUILD_FAILED", "The fetched package does not match the lockfile; it was deleted.", {
    hint: "The registry or something on the way to it answered with another file.",
  });
}
