/** Which commit the sources are of. Part of the binary, so that `svc --version` can be traced. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface Source {
  /** First seven characters of the commit, `-dirty` when the sources differ from it; `unknown` without git. */
  readonly commit: string;
  /** Full hash, or null without git. */
  readonly revision: string | null;
  readonly dirty: boolean | null;
}

/** What a binary is made of. A change elsewhere (docs, benchmarks) does not make a build dirty. */
const PATHS = [
  "apps",
  "packages",
  "profiles",
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "releases.json",
  "tsconfig.base.json",
];

const run = promisify(execFile);

export async function sourceOf(root: string): Promise<Source> {
  try {
    // A fixed length: `--short` grows with the number of objects, so that two clones of one commit would differ.
    const [head, status] = await Promise.all([
      git(root, "rev-parse", "--show-prefix", "HEAD"),
      git(root, "status", "--porcelain", "--", ...PATHS),
    ]);
    const [prefix, revision] = head.split("\n");
    // Inside of another repository (a tarball unpacked somewhere): its commits say nothing about these sources.
    if (prefix !== "" || revision === undefined) return UNKNOWN;
    const dirty = status !== "";
    return { commit: revision.slice(0, 7) + (dirty ? "-dirty" : ""), revision, dirty };
  } catch {
    return UNKNOWN;
  }
}

const UNKNOWN: Source = { commit: "unknown", revision: null, dirty: null };

async function git(root: string, ...args: string[]): Promise<string> {
  const { stdout } = await run("git", ["-C", root, "--no-optional-locks", ...args], { encoding: "utf8" });
  return stdout.trimEnd();
}
