/** The files of a checkout as the checks see them. In a test it is a handful of strings; no check reads the disk itself. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSource, type Source } from "@svc/source";

export interface Workspace {
  /** Text by path from the root, with `/`; sorted by path. A binary file has an empty text. */
  readonly files: ReadonlyMap<string, string>;
  /** The source files among them that `wanted` takes, parsed once. Templates of `pnpm new` and AssemblyScript are text. */
  sources(wanted?: (file: string) => boolean): readonly Source[];
}

const CODE = /\.(?:ts|tsx|mts|js|mjs)$/;
const TEMPLATE = /^packages\/tooling\/create\/templates\//;
/** AssemblyScript: it looks like TypeScript and is not. */
const ASSEMBLY = /\/assembly\/[^/]*\.ts$/;

export function inMemory(contents: Readonly<Record<string, string>>): Workspace {
  const files = new Map(Object.entries(contents).sort(([left], [right]) => (left < right ? -1 : 1)));
  const parsed = new Map<string, Source>();
  const source = (file: string, text: string): Source => {
    const known = parsed.get(file) ?? parseSource(file, text);
    parsed.set(file, known);
    return known;
  };
  return {
    files,
    sources: (wanted = () => true) =>
      [...files]
        .filter(([file]) => CODE.test(file) && !TEMPLATE.test(file) && !ASSEMBLY.test(file) && wanted(file))
        .map(([file, text]) => source(file, text)),
  };
}

/**
 * Everything git tracks or would track below `root`. What `.gitignore` names (dist, .gen, node_modules) is no business
 * of the checks: it is built from what they have judged. Throws when `root` is not inside a git checkout.
 */
export function readWorkspace(root: string): Workspace {
  const listing = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const contents: Record<string, string> = {};
  for (const path of listing.split("\0")) {
    // A file deleted but not yet committed is still listed.
    if (path === "" || !existsSync(join(root, path))) continue;
    const bytes = readFileSync(join(root, path));
    contents[path] = bytes.includes(0) ? "" : bytes.toString("utf8");
  }
  return inMemory(contents);
}
