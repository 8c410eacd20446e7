/** A workspace in memory. It keeps the contract's promises (paths stay inside, limits hold), not the file system's. */
import { type FillFile, SvcError, type Workspace, type WorkspaceEntry } from "@svc/contract";
import { posix } from "node:path";

const ROOT = "/workspace";
type Ask = <T>(answer: () => T) => Promise<T>;

export function fakeWorkspace(
  files: Readonly<Record<string, string>>,
  ask: Ask = async (answer) => answer(),
  huge?: (limit: number) => Uint8Array,
): Workspace {
  const contents = new Map<string, Uint8Array>();
  for (const [path, text] of Object.entries(files)) contents.set(inside(path), new TextEncoder().encode(text));

  return {
    root: ROOT,
    read: (path, maxBytes, offset = 0) =>
      ask(() => {
        if (huge !== undefined) return { bytes: huge(maxBytes), truncated: true };
        const bytes = contents.get(inside(path));
        if (bytes === undefined) throw new SvcError("TOOL_FAILED", "There is no such file in the workspace.");
        return { bytes: bytes.slice(offset, offset + maxBytes), truncated: bytes.length > offset + maxBytes };
      }),
    write: async (path, content, mode) => {
      const bytes = typeof content === "function" ? await filled(content) : content;
      return ask(() => {
        const target = inside(path);
        const before = mode === "append" ? (contents.get(target) ?? new Uint8Array()) : new Uint8Array();
        contents.set(target, Buffer.concat([before, bytes]));
      });
    },
    remove: (path) => ask(() => contents.delete(inside(path))),
    list: (path, limit) =>
      ask(() => {
        const entries = huge === undefined ? entriesOf(contents, inside(path)) : manyEntries(limit);
        return { entries: entries.slice(0, limit), truncated: entries.length > limit };
      }),
  };
}

async function filled(fill: FillFile): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await fill(async (chunk) => void chunks.push(chunk.slice()));
  return Buffer.concat(chunks);
}

function inside(path: string): string {
  const full = posix.resolve(ROOT, path);
  if (full === ROOT || full.startsWith(`${ROOT}/`)) return full;
  throw new SvcError("PATH_OUTSIDE_WORKSPACE");
}

function entriesOf(contents: ReadonlyMap<string, Uint8Array>, folder: string): WorkspaceEntry[] {
  const found = new Map<string, WorkspaceEntry>();
  for (const [path, bytes] of contents) {
    if (!path.startsWith(`${folder}/`)) continue;
    const [name = "", ...deeper] = path.slice(folder.length + 1).split("/");
    const isFile = deeper.length === 0;
    found.set(name, { name, kind: isFile ? "file" : "directory", size: isFile ? bytes.length : 0 });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const MANY_ENTRIES = 100_000;

function manyEntries(limit: number): WorkspaceEntry[] {
  const count = Math.min(limit + 1, MANY_ENTRIES);
  return Array.from({ length: count }, (_, index) => ({
    name: `file-${index}`.padEnd(60, "x"),
    kind: "file",
    size: 1,
  }));
}
