/** The binaries that the guard compares: this checkout's, and those of older commits, which are built once and kept. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

export interface Build {
  /** Whole hash. */
  readonly commit: string;
  /** The sources differ from the commit. */
  readonly isDirty: boolean;
  readonly binary: string;
}

const ROOT = resolve(import.meta.dirname, "../../..");
const CACHE = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "svc-bench");

/** Of this checkout; built first if it is stale. */
export async function ownBuild(): Promise<Build> {
  return buildAt(await builtIn(ROOT));
}

/** With the record that the composer left beside it. */
export function buildAt(binary: string): Build {
  const file = join(dirname(binary), "build.json");
  if (!existsSync(binary) || !existsSync(file)) throw new Error(`There is no binary with a build.json at ${binary}.`);
  const { revision, dirty } = JSON.parse(readFileSync(file, "utf8")) as { revision: string; dirty: boolean };
  return { commit: revision, isDirty: dirty, binary };
}

/** From the cache, or built in a worktree of its own, which is removed again. */
export async function referenceBuild(commit: string, say: (line: string) => void): Promise<Build> {
  const cached = join(CACHE, `${commit}-${process.platform}-${process.arch}`);
  const binary = join(cached, "svc");
  if (existsSync(binary)) return { commit, isDirty: false, binary };
  requireCommit(commit);
  say(`building ${commit.slice(0, 8)}, once: half a minute`);
  mkdirSync(CACHE, { recursive: true });
  removeLeftovers();
  const checkout = join(CACHE, `${BUILDING}${commit.slice(0, 8)}-${process.pid}`);
  try {
    git("worktree", "add", "--quiet", "--detach", checkout, commit);
    rmSync(cached, { recursive: true, force: true });
    renameSync(dirname(await builtIn(checkout)), cached);
  } finally {
    removeWorktree(checkout);
  }
  return { commit, isDirty: false, binary };
}

const BUILDING = "building-";

/** Worktrees of a guard that was killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(CACHE)) {
    const pid = Number(name.split("-").at(-1));
    if (name.startsWith(BUILDING) && !existsSync(`/proc/${pid}`)) removeWorktree(join(CACHE, name));
  }
}

function removeWorktree(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  git("worktree", "prune");
}

function requireCommit(commit: string): void {
  try {
    git("cat-file", "-e", `${commit}^{commit}`);
  } catch (error) {
    throw new Error(`Commit ${commit} is not in this clone. Fetch the whole history: git fetch --unshallow`, {
      cause: error,
    });
  }
}

function git(...args: readonly string[]): string {
  return execFileSync("git", [...args], { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Installs what the checkout needs and builds its minimal profile. */
async function builtIn(checkout: string): Promise<string> {
  const program = join(ROOT, "packages/tooling/bootstrap/build-checkout.mjs");
  const child = spawn(process.execPath, [program, checkout], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  for await (const chunk of child.stdout) text += String(chunk);
  const binary = text.trim().split("\n").at(-1) ?? "";
  if (basename(binary) !== "svc") throw new Error(`The build of ${checkout} failed.`);
  return binary;
}
