/**
 * Where people write procedures: on the page and at the command line. The files of the workspace stay the truth: what an editor, an
 * agent or another browser wrote meanwhile is never overwritten, and nothing is written that would not load.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Json, SvcError, type Workspace } from "@svc/contract";
import { formatProblems, type Problem } from "@svc/kernel";
import type { DefinitionRules } from "../library/definition.ts";
import { SOP_MD, SOP_TOML } from "../library/file-names.ts";
import { NAME_RULE, SOP_NAME, workspaceOf } from "../library/folders.ts";
import { MOST_BYTES, readFiles } from "../library/read-files.ts";
import type { SopLibrary } from "../library/types.ts";
import type { Known } from "../library/warnings.ts";
import { draftOf, type SopDraft, type SopEdit, type SopText, templateOf } from "./draft.ts";

export interface SopDeskDeps {
  /** Absolute path of `<workspace>/sops`. */
  readonly folder: () => string;
  readonly rules: () => DefinitionRules;
  readonly known: () => Known;
  /** Writes by descriptor, below the workspace alone. */
  readonly workspace: (root: string) => Promise<Pick<Workspace, "write" | "remove">>;
  readonly library: Pick<SopLibrary, "reload">;
  /** Writes a line of the audit log. */
  readonly audit: (kind: string, data: Json) => Promise<void>;
  /** Takes the configured secrets out of a text. */
  readonly redact: (text: string) => string;
}

/** A procedure's files as they are, with what is wrong with them. */
export interface SopSource extends SopDraft {
  readonly name: string;
  readonly revision: string;
  /** Why they can't be changed here; undefined: they can. */
  readonly unwritable: string | undefined;
}

export interface SopSave extends SopText {
  /** Of the files that the change was made for; undefined: there are none yet. */
  readonly revision: string | undefined;
}

export interface SavedSop {
  readonly name: string;
  readonly revision: string;
  readonly warnings: readonly Problem[];
}

export class SopDesk {
  readonly #deps: SopDeskDeps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: SopDeskDeps) {
    this.#deps = deps;
  }

  /** Throws SOP_UNKNOWN, and SOP_INVALID for files that can't be read as text. */
  async read(name: string): Promise<SopSource> {
    const found = await this.#files(name);
    if (!found) throw new SvcError("SOP_UNKNOWN", undefined, { hint: "See: svc sop list" });
    const { redact } = this.#deps;
    const shown: SopText = { toml: redact(found.toml), markdown: found.markdown && redact(found.markdown) };
    const draft = await draftOf(name, shown, [], this.#options());
    const unwritable = hasSecret(found, redact) ? SECRET_INSIDE : undefined;
    return { name, ...draft, revision: revisionOf(found), unwritable };
  }

  /** Without a text the template of a new one. Throws SOP_INVALID for an edit that can't be made; what is wrong with the text is told. */
  async check(name: string, text: SopText | undefined, edits: readonly SopEdit[]): Promise<SopDraft> {
    const given = text ?? templateOf(name);
    const large = [given.toml, given.markdown ?? ""].some((one) => Buffer.byteLength(one) > MOST_BYTES);
    if (large) throw tooLarge();
    return draftOf(name, given, edits, this.#options());
  }

  /** Throws SOP_INVALID with every problem, SOP_EXISTS, SOP_UNKNOWN, SOP_CHANGED, SOP_UNWRITABLE, STORE_*. */
  save(name: string, change: SopSave, by: string): Promise<SavedSop> {
    return this.#inTurn(() => this.#save(name, change, by));
  }

  /** A disabled copy. Throws as `save`. */
  duplicate(name: string, copy: string, by: string): Promise<SavedSop> {
    return this.#inTurn(async () => {
      const source = await this.#known(name);
      // A second file with the secret would be one more to leak.
      if (hasSecret(source, this.#deps.redact)) throw new SvcError("SOP_UNWRITABLE", SECRET_INSIDE);
      const off = await this.#edited(name, source, [
        { path: ["sop", "name"], remove: true },
        { path: ["sop", "enabled"], value: false },
      ]);
      return this.#save(copy, { ...off, revision: undefined }, by);
    });
  }

  /** Throws as `save`. */
  setEnabled(name: string, enabled: boolean, by: string): Promise<SavedSop> {
    return this.#inTurn(async () => {
      const source = await this.#known(name);
      const change = await this.#edited(name, source, [{ path: ["sop", "enabled"], value: enabled }]);
      return this.#save(name, { ...change, revision: revisionOf(source) }, by);
    });
  }

  /** One at a time: what is compared must be what is written over. */
  #inTurn<Result>(act: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #save(name: string, { toml, markdown, revision }: SopSave, by: string): Promise<SavedSop> {
    if (!SOP_NAME.test(name)) throw new SvcError("SOP_INVALID", `This name can't be used: ${NAME_RULE}.`);
    const before = await this.#files(name);
    if (revision === undefined && before) throw new SvcError("SOP_EXISTS", undefined, { hint: "Choose another name." });
    if (revision !== undefined && !before) throw new SvcError("SOP_UNKNOWN");
    if (before && revisionOf(before) !== revision) {
      throw new SvcError("SOP_CHANGED", undefined, { hint: "Look at the files as they are now, then save again." });
    }
    if (before && hasSecret(before, this.#deps.redact)) throw new SvcError("SOP_UNWRITABLE", SECRET_INSIDE);
    const after: SopText = { toml, markdown };
    const { problems, warnings } = await this.check(name, after, []);
    if (problems.length > 0) {
      throw new SvcError("SOP_INVALID", formatProblems(problems), { hint: "Correct this, then save again." });
    }
    if (![toml, markdown ?? ""].every((text) => text.isWellFormed())) {
      throw new SvcError("SOP_INVALID", "The text has half a character in it, which no file can hold.");
    }
    await this.#write(name, before, after);
    await this.#deps.library.reload();
    const saved = revisionOf(after);
    const what = before ? "change" : "create";
    await this.#deps.audit("sop-change", {
      sop: name,
      what,
      by,
      before: before ? revisionOf(before) : null,
      after: saved,
    });
    return { name, revision: saved, warnings };
  }

  /** The file that says what starts it comes last: with an old SOP.toml a new SOP.md does nothing new by itself. */
  async #write(name: string, before: SopText | undefined, after: SopText): Promise<void> {
    const root = await workspaceOf(this.#deps.folder());
    const workspace = await this.#deps.workspace(root);
    const put = async (file: string, text: string | undefined, was: string | undefined): Promise<void> => {
      if (text === was) return;
      const path = join("sops", name, file);
      if (text === undefined) await workspace.remove(path);
      else await workspace.write(path, new TextEncoder().encode(text), "replace");
    };
    try {
      await put(SOP_MD, after.markdown, before?.markdown);
      try {
        await put(SOP_TOML, after.toml, before?.toml);
      } catch (error) {
        await put(SOP_MD, before?.markdown, after.markdown).catch(() => undefined);
        throw error;
      }
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      throw new SvcError("SOP_UNWRITABLE", `The files were not changed: ${error.message}`, { cause: error });
    }
  }

  async #known(name: string): Promise<SopText> {
    const found = await this.#files(name);
    if (found) return found;
    throw new SvcError("SOP_UNKNOWN", undefined, { hint: "See: svc sop list" });
  }

  async #edited(name: string, source: SopText, edits: readonly SopEdit[]): Promise<SopText> {
    const { toml, markdown } = await draftOf(name, source, edits, this.#options());
    return { toml, markdown };
  }

  /** Undefined: there is no such procedure. */
  async #files(name: string): Promise<SopText | undefined> {
    if (!SOP_NAME.test(name)) return undefined;
    const folder = this.#deps.folder();
    const { files, problems, isMissing } = await readFiles(join(folder, name), await workspaceOf(folder));
    if (problems.length > 0 && !isMissing) throw new SvcError("SOP_INVALID", formatProblems(problems));
    // SOP.md alone is what is left of one that was removed.
    return files && { toml: files.toml, markdown: files.markdown };
  }

  #options() {
    return { rules: this.#deps.rules(), known: this.#deps.known() };
  }
}

const SECRET_INSIDE =
  "It holds a secret of the config, which is not shown here: change its files in the workspace, and keep the secret out of them.";

const hasSecret = ({ toml, markdown = "" }: SopText, redact: (text: string) => string): boolean =>
  redact(toml) !== toml || redact(markdown) !== markdown;

const tooLarge = (): SvcError => new SvcError("SOP_INVALID", "A file of a procedure has at most 256 kB.");

const revisionOf = ({ toml, markdown }: SopText): string =>
  createHash("sha256")
    .update(JSON.stringify([toml, markdown ?? null]))
    .digest("hex")
    .slice(0, 32);
