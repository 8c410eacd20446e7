/** Procedures that can be written, as long as nothing is set to go wrong. */
import type { SopSaved, SopVersion } from "@svc/api";
import { type ErrorCode, SvcError } from "@svc/contract";
import type { SopAuthor } from "../src/index.ts";
import { REVISION } from "./fake-settings.ts";

const PROBLEM = {
  file: "SOP.toml",
  line: 3,
  column: 1,
  key: "sop.priority",
  message: "must be one of the values allowed",
  allowed: "low, normal, high, critical",
  did_you_mean: null,
};
const DRAFT = { toml: "[sop]\n", markdown: null, problems: [PROBLEM], warnings: [], form: null };

const VERSION: SopVersion = {
  version: 3,
  at: "2026-01-01T00:00:00.000Z",
  by: "device phone",
  what: "change",
  sops: ["deploy"],
};
const DIFF = { sop: "deploy", file: "SOP.toml", lines: [{ kind: "added", line: 1, text: "[sop]" } as const] };

export class FakeSopAuthor implements SopAuthor {
  /** As long as it is set, everything is refused by it. */
  fails: ErrorCode | undefined;
  /** As long as it is set, everything throws it. */
  unforeseen: Error | undefined;
  /** What was written, and by whom. */
  readonly written: unknown[][] = [];

  async #answer<Answer>(name: string, answer: Answer, ...written: unknown[]): Promise<Answer> {
    await Promise.resolve();
    if (this.unforeseen) throw this.unforeseen;
    if (this.fails) throw new SvcError(this.fails);
    if (name === "nobody") throw new SvcError("SOP_UNKNOWN");
    if (written.length > 0) this.written.push(written);
    return answer;
  }

  #saved = (name: string): SopSaved => ({ name, revision: REVISION, version: 3, warnings: [] });

  read: SopAuthor["read"] = (name) => this.#answer(name, { name, revision: REVISION, unwritable: null, ...DRAFT });
  check: SopAuthor["check"] = ({ name }) => this.#answer(name, DRAFT);
  save: SopAuthor["save"] = (name, files, by) => this.#answer(name, this.#saved(name), "save", name, files, by);
  duplicate: SopAuthor["duplicate"] = (name, copy, by) =>
    this.#answer(name, this.#saved(copy), "duplicate", name, copy, by);
  setEnabled: SopAuthor["setEnabled"] = (name, enabled, by) =>
    this.#answer(name, this.#saved(name), "enabled", name, enabled, by);
  delete: SopAuthor["delete"] = (name, by) => this.#answer(name, this.#saved(name), "delete", name, by);
  rename: SopAuthor["rename"] = (name, to, by) => this.#answer(name, this.#saved(to), "rename", name, to, by);
  versions: SopAuthor["versions"] = (name) => this.#answer(name ?? "", [VERSION]);
  version: SopAuthor["version"] = (number) =>
    this.#versioned(number, { ...VERSION, changes: [DIFF], undo: [DIFF], revision: REVISION });
  undo: SopAuthor["undo"] = (number, revision, by) =>
    this.#versioned(number, this.#saved("deploy"), "undo", number, revision, by);

  async #versioned<Answer>(number: number, answer: Answer, ...written: unknown[]): Promise<Answer> {
    const answered = await this.#answer("", answer, ...written);
    if (number !== VERSION.version) throw new SvcError("VERSION_UNKNOWN");
    return answered;
  }
}
