/**
 * Where people write procedures: on the page and at the command line. The files of the workspace stay the truth: what an editor, an
 * agent or another browser wrote meanwhile is never overwritten, and nothing is written that would not load. A version of every write
 * is kept, and leads back.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Json, SvcError, type Workspace } from "@svc/contract";
import { Semaphore } from "@svc/kit";
import { type Problem, formatProblems } from "@svc/config";
import type { DefinitionRules, Known } from "../library/definition.ts";
import { NAME_RULE, SOP_MD, SOP_NAME, SOP_TOML, type SopLibrary } from "../library/types.ts";
import { workspaceOf } from "../library/folders.ts";
import { type FileTexts, MOST_BYTES, type PendingChange, readFiles } from "../library/files.ts";
import { commit, finishPending, notChanged } from "./commit.ts";
import { type SopChange, SopHistory, type SopVersion, type SopVersionDetail } from "./history.ts";
import {
  type SavedSop,
  type SopDraft,
  type SopEdit,
  type SopSave,
  type SopSource,
  type SopText,
  type UndoneSop,
  draftOf,
  templateOf,
} from "./draft.ts";

export interface SopEditorDeps {
  /** Absolute path of `<workspace>/sops`. */
  readonly folder: () => string;
  /** Absolute path of the folder for versions, which only this user may read. */
  readonly versions: string;
  readonly rules: () => DefinitionRules;
  readonly known: () => Known;
  readonly now: () => number;
  /** Writes by descriptor, below the workspace alone. */
  readonly workspace: (root: string) => Promise<Pick<Workspace, "write" | "remove" | "list">>;
  readonly library: Pick<SopLibrary, "reload" | "exclusively">;
  /** Writes lines of the audit log: all of them or none. */
  readonly audit: (kind: string, lines: readonly Json[]) => Promise<void>;
  /** Takes the configured secrets out of a text. */
  readonly redact: (text: string) => string;
}

export class SopEditor {
  readonly #deps: SopEditorDeps;
  /** What is compared must be what is written over. */
  readonly #lock = new Semaphore(1);

  constructor(deps: SopEditorDeps) {
    this.#deps = deps;
  }

  /** Throws SOP_UNKNOWN, and SOP_INVALID for files that can't be read as text. */
  async read(name: string): Promise<SopSource> {
    const found = await this.#known(name);
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
    return this.#lock.run(() => this.#save(name, change, by));
  }

  /** A disabled copy. Throws as `save`. */
  duplicate(name: string, copy: string, by: string): Promise<SavedSop> {
    return this.#lock.run(async () => {
      // A second file with a secret would be one more to leak.
      const source = await this.#writable(name);
      const off = await this.#edited(name, source, [
        { path: ["sop", "name"], remove: true },
        { path: ["sop", "enabled"], value: false },
      ]);
      return this.#save(copy, { ...off, revision: undefined }, by);
    });
  }

  /** Throws as `save`. */
  setEnabled(name: string, enabled: boolean, by: string): Promise<SavedSop> {
    return this.#lock.run(async () => {
      const source = await this.#known(name);
      const text = await this.#edited(name, source, [{ path: ["sop", "enabled"], value: enabled }]);
      return this.#save(name, { ...text, revision: revisionOf(source) }, by);
    });
  }

  /** Other files in its folder stay. Runs go on with the definition they began with. Throws as `save`. */
  delete(name: string, by: string): Promise<UndoneSop> {
    return this.#lock.run(async () => {
      const before = await this.#writable(name);
      const version = await this.#write(new Map([[name, { before, after: {} }]]), "delete", by);
      return { name, revision: undefined, version, warnings: [] };
    });
  }

  /** Its runs keep the name they began with. Throws as `save`. */
  rename(name: string, to: string, by: string): Promise<SavedSop> {
    return this.#lock.run(async () => {
      const before = await this.#writable(name);
      if (await this.#files(to)) throw new SvcError("SOP_EXISTS", undefined, { hint: "Choose another name." });
      await this.#assertAlone(name);
      const after = await this.#edited(name, before, [{ path: ["sop", "name"], remove: true }]);
      const warnings = await this.#assertRight(to, after);
      const there = await this.#texts(to);
      const change: PendingChange = new Map([
        [to, { before: there, after }],
        [name, { before, after: {} }],
      ]);
      const version = await this.#write(change, "rename", by);
      return { name: to, revision: revisionOf(after), version, warnings };
    });
  }

  /** The newest first. `name`: of one procedure alone. */
  versions(name?: string): SopVersion[] {
    return this.#history().list(name);
  }

  /** Throws VERSION_UNKNOWN, SOP_INVALID. */
  async version(number: number): Promise<SopVersionDetail> {
    const history = this.#history();
    const now = await this.#now(history.read(number).keys);
    return { ...history.detail(number, now, this.#deps.redact), revision: revisionOfAll(now) };
  }

  /**
   * Puts the procedures of a version back as they were before it. `revision`: of `version`, which was looked at; undefined: whatever
   * they are now. Throws VERSION_UNKNOWN, and as `save`.
   */
  undo(number: number, revision: string | undefined, by: string): Promise<UndoneSop> {
    return this.#lock.run(async () => {
      const { before: wanted, keys } = this.#history().read(number);
      const now = await this.#now(keys);
      if (revision !== undefined && revisionOfAll(now) !== revision) throw changedMeanwhile();
      const change: PendingChange = new Map(
        keys.map((name) => [name, { before: now.get(name)!, after: wanted[name]! }]),
      );
      const warnings: Problem[] = [];
      for (const [name, { before, after }] of change) {
        if (hasSecret(before, this.#deps.redact)) throw new SvcError("SOP_UNWRITABLE", SECRET_INSIDE);
        // One that was deleted comes back as it was, right or wrong: what is wrong is not loaded.
        if (after.toml === undefined || before.toml === undefined) continue;
        warnings.push(...(await this.#assertRight(name, { toml: after.toml, markdown: after.markdown })));
      }
      const version = await this.#write(change, "undo", by);
      const name = keys.find((key) => wanted[key]!.toml !== undefined) ?? keys[0]!;
      return { name, revision: revisionOrUndefined(wanted[name]!), version, warnings };
    });
  }

  async #save(name: string, { toml, markdown, revision }: SopSave, by: string): Promise<SavedSop> {
    if (!SOP_NAME.test(name)) throw new SvcError("SOP_INVALID", `This name can't be used: ${NAME_RULE}.`);
    const before = await this.#files(name);
    if (revision === undefined && before) throw new SvcError("SOP_EXISTS", undefined, { hint: "Choose another name." });
    if (revision !== undefined && !before) throw new SvcError("SOP_UNKNOWN");
    if (before && revisionOf(before) !== revision) throw changedMeanwhile();
    if (before && hasSecret(before, this.#deps.redact)) throw new SvcError("SOP_UNWRITABLE", SECRET_INSIDE);
    const after: SopText = { toml, markdown };
    const warnings = await this.#assertRight(name, after);
    const there = before ?? (await this.#texts(name));
    const version = await this.#write(new Map([[name, { before: there, after }]]), before ? "change" : "create", by);
    return { name, revision: revisionOf(after), version, warnings };
  }

  /** Returns the warnings. Throws SOP_INVALID with every problem. */
  async #assertRight(name: string, after: SopText): Promise<readonly Problem[]> {
    const { problems, warnings } = await this.check(name, after, []);
    if (problems.length > 0) {
      throw new SvcError("SOP_INVALID", formatProblems(problems), { hint: "Correct this, then save again." });
    }
    if (![after.toml, after.markdown ?? ""].every((text) => text.isWellFormed())) {
      throw new SvcError("SOP_INVALID", "The text has half a character in it, which no file can hold.");
    }
    return warnings;
  }

  /** Returns the version; undefined: the files say so already. */
  async #write(change: PendingChange, what: SopChange, by: string): Promise<number | undefined> {
    const { library, now } = this.#deps;
    if ([...change.values()].every(({ before, after }) => revisionOf(before) === revisionOf(after))) return undefined;
    const history = this.#history();
    const version = history.keep(change, { at: new Date(now()).toISOString(), by, what });
    const lines = [...change].map(([name, replaced]) => {
      const [was, is] = [revisionOrUndefined(replaced.before), revisionOrUndefined(replaced.after)];
      return { sop: name, what, by, version, before: was ?? null, after: is ?? null };
    });
    try {
      const workspace = await this.#workspace();
      const steps = {
        accept: () => this.#deps.audit("sop-change", lines),
        release: () => history.drop(version),
      };
      await library.exclusively(() => commit(workspace, this.#deps.folder(), change, steps));
    } catch (error) {
      history.drop(version);
      throw error instanceof SvcError ? notChanged(error) : error;
    }
    await library.reload();
    return version;
  }

  #history(): SopHistory {
    return new SopHistory(this.#deps.versions, this.#deps.folder());
  }

  /** With what a killed process began finished. */
  async #workspace(): Promise<Pick<Workspace, "write" | "remove" | "list">> {
    const folder = this.#deps.folder();
    const root = await workspaceOf(folder);
    const workspace = await this.#deps.workspace(root);
    await this.#deps.library.exclusively(() => finishPending(workspace, folder, root));
    return workspace;
  }

  /** A folder that is renamed here must hold nothing that a step could name by its path. Throws SOP_UNWRITABLE. */
  async #assertAlone(name: string): Promise<void> {
    const workspace = await this.#workspace();
    const { entries } = await workspace.list(join("sops", name), 10).catch(() => ({ entries: [] }));
    const others = entries.filter((entry) => entry.name !== SOP_TOML && entry.name !== SOP_MD);
    if (others.length === 0) return;
    throw new SvcError("SOP_UNWRITABLE", "Its folder holds other files too, which steps may name by their path.", {
      hint: "Rename the folder in the workspace, and `sop.name` in SOP.toml if it is there.",
    });
  }

  /** Throws SOP_UNKNOWN, SOP_INVALID. */
  async #known(name: string): Promise<SopText> {
    const found = await this.#files(name);
    if (found) return found;
    throw new SvcError("SOP_UNKNOWN", undefined, { hint: "See: svc sop list" });
  }

  /** Throws SOP_UNWRITABLE too. */
  async #writable(name: string): Promise<SopText> {
    const found = await this.#known(name);
    if (hasSecret(found, this.#deps.redact)) throw new SvcError("SOP_UNWRITABLE", SECRET_INSIDE);
    return found;
  }

  async #edited(name: string, source: SopText, edits: readonly SopEdit[]): Promise<SopText> {
    const { toml, markdown } = await draftOf(name, source, edits, this.#options());
    return { toml, markdown };
  }

  /** Undefined: there is no such procedure. SOP.md alone is what is left of one that was removed. */
  async #files(name: string): Promise<SopText | undefined> {
    const { toml, markdown } = await this.#texts(name);
    return toml === undefined ? undefined : { toml, markdown };
  }

  /** Throws SOP_INVALID for files that can't be read as text. */
  async #texts(name: string): Promise<FileTexts> {
    if (!SOP_NAME.test(name)) return {};
    const folder = this.#deps.folder();
    const { problems, isMissing, texts } = await readFiles(join(folder, name), await workspaceOf(folder));
    if (problems.length > 0 && !isMissing) throw new SvcError("SOP_INVALID", formatProblems(problems));
    return texts;
  }

  async #now(names: readonly string[]): Promise<ReadonlyMap<string, FileTexts>> {
    return new Map(await Promise.all(names.map(async (name) => [name, await this.#texts(name)] as const)));
  }

  #options() {
    return { rules: this.#deps.rules(), known: this.#deps.known() };
  }
}

const SECRET_INSIDE =
  "It holds a secret of the config, which is not shown here: change its files in the workspace, and keep the secret out of them.";

const hasSecret = ({ toml = "", markdown = "" }: FileTexts, redact: (text: string) => string): boolean =>
  redact(toml) !== toml || redact(markdown) !== markdown;

const tooLarge = (): SvcError => new SvcError("SOP_INVALID", "A file of a procedure has at most 256 kB.");

const changedMeanwhile = (): SvcError =>
  new SvcError("SOP_CHANGED", undefined, { hint: "Look at the files as they are now, then save again." });

const hashOf = (value: Json): string => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);

const revisionOf = ({ toml, markdown }: FileTexts): string => hashOf([toml ?? null, markdown ?? null]);

/** Undefined: there is no such procedure. */
const revisionOrUndefined = (texts: FileTexts): string | undefined =>
  texts.toml === undefined ? undefined : revisionOf(texts);

const revisionOfAll = (texts: ReadonlyMap<string, FileTexts>): string =>
  hashOf([...texts].map(([name, one]) => [name, revisionOf(one)]));
