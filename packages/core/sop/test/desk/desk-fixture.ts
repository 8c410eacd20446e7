/** A desk over a real folder, and what it told others. */
import { mkdirSync, readdirSync, renameSync, rmdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Json, SvcError } from "@svc/contract";
import { temporaryHome, type TemporaryHome } from "@svc/testkit/temporary-home";
import { SopDesk, type SopDeskDeps } from "../../src/desk/desk.ts";

export const TOML = '# mine\n[sop]\ndescription = "d" # why\n\n[[triggers]]\ntype = "manual"\n';
export const MD = "## Steps\n\n1. **Look** — at it\n";

type Files = Awaited<ReturnType<SopDeskDeps["workspace"]>>;

export interface DeskFixture {
  readonly home: TemporaryHome;
  readonly desk: SopDesk;
  readonly audit: Json[];
  reloads: number;
  /** What the audit log refuses a line with. */
  auditError: Error | undefined;
  /** Taken out of every text. */
  secret: string;
  /** One more desk over the same folder; `files`: how it writes. */
  another(files?: (files: Files) => Files): SopDesk;
  at(path: string): string;
  put(path: string, text: string): void;
  /** The workspace as it is, without rules. */
  readonly files: Files;
}

export function deskFixture(): DeskFixture {
  const home = temporaryHome();
  const root = join(home.path, "workspace");
  mkdirSync(root);
  const files = plainWorkspace(root);
  const at = (path: string): string => join(root, "sops", path);
  const another: DeskFixture["another"] = (changed = (same) => same) =>
    new SopDesk({
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
  const fixture: DeskFixture = {
    home,
    audit: [],
    reloads: 0,
    auditError: undefined,
    secret: "\0",
    another,
    get desk() {
      desk ??= another();
      return desk;
    },
    at,
    put(path, text) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
    },
    files,
  };
  let desk: SopDesk | undefined;
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
