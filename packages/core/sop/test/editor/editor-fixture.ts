/** A desk over a real folder, and what it told others. */
import { mkdirSync, readdirSync, renameSync, rmdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Json, SvcError } from "@svc/contract";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { SopEditor, type SopEditorDeps } from "../../src/editor/editor.ts";

export const TOML = '# mine\n[sop]\ndescription = "d" # why\n\n[[triggers]]\ntype = "manual"\n';
export const MD = "## Steps\n\n1. **Look** — at it\n";

type Files = Awaited<ReturnType<SopEditorDeps["workspace"]>>;

export interface EditorFixture {
  readonly home: TemporaryHome;
  readonly editor: SopEditor;
  readonly audit: Json[];
  reloads: number;
  /** What the audit log refuses a line with. */
  auditError: Error | undefined;
  /** Taken out of every text. */
  secret: string;
  /** One more desk over the same folder; `files`: how it writes. */
  another(files?: (files: Files) => Files): SopEditor;
  at(path: string): string;
  put(path: string, text: string): void;
  /** The workspace as it is, without rules. */
  readonly files: Files;
}

export function editorFixture(): EditorFixture {
  const home = temporaryHome();
  const root = join(home.path, "workspace");
  mkdirSync(root);
  const files = plainWorkspace(root);
  const at = (path: string): string => join(root, "sops", path);
  const another: EditorFixture["another"] = (changed = (same) => same) =>
    new SopEditor({
      folder: () => join(root, "sops"),
      versions: join(home.path, "versions", "sops"),
      now: () => 0,
      rules: () => ({ defaultMode: "supervised", reserved: ["/health"] }),
      known: () => ({ nowMs: 0, tools: ["file_read"] }),
      workspace: async () => changed(files),
      library: { reload: async () => void (fixture.reloads += 1), exclusively: (act) => act() },
      audit: async (kind, lines) => {
        if (fixture.auditError) throw fixture.auditError;
        fixture.audit.push(...lines.map((line) => ({ kind, ...(line as object) })));
      },
      redact: (text) => text.replaceAll(fixture.secret, "…"),
    });
  const fixture: EditorFixture = {
    home,
    audit: [],
    reloads: 0,
    auditError: undefined,
    secret: "\0",
    another,
    get editor() {
      editor ??= another();
      return editor;
    },
    at,
    put(path, text) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
    },
    files,
  };
  let editor: SopEditor | undefined;
  return fixture;
}

/** Writes where it is told, each file in one step; the real one is tested beside the agent. */
const plainWorkspace = (root: string): Files => ({
  write: async (path, content) => {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(`${file}.tmp`, content as Uint8Array);
    renameSync(`${file}.tmp`, file);
  },
  remove: async (path) => {
    const file = join(root, path);
    try {
      if (statSync(file).isDirectory()) rmdirSync(file);
      else unlinkSync(file);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return false;
      throw new SvcError("TOOL_FAILED", `The file system reported ${code}.`);
    }
  },
  list: async (path) => ({
    entries: readdirSync(join(root, path)).map((name) => ({ name, kind: "file", size: 0 })),
    truncated: false,
  }),
});

export const codeOf = (made: Promise<unknown>): Promise<unknown> =>
  made.then(
    () => undefined,
    (error: unknown) => (error instanceof SvcError ? error.code : error),
  );
