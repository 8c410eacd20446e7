/** Procedures that can be written, as long as nothing is set to go wrong. */
import { type ErrorCode, type Json, SvcError } from "@svc/contract";
import type { SopAuthor } from "../src/types.ts";
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
const DRAFT = { toml: "[sop]\n", markdown: null, problems: [PROBLEM], warnings: [], form: {} };

export class FakeSopAuthor implements SopAuthor {
  /** As long as it is set, everything is refused by it. */
  fails: ErrorCode | undefined;
  /** As long as it is set, everything throws it. */
  unforeseen: Error | undefined;
  /** What was written, and by whom. */
  readonly written: unknown[][] = [];

  async #answer(name: string, answer: Json, ...written: unknown[]): Promise<Json> {
    await Promise.resolve();
    if (this.unforeseen) throw this.unforeseen;
    if (this.fails) throw new SvcError(this.fails);
    if (name === "nobody") throw new SvcError("SOP_UNKNOWN");
    if (written.length > 0) this.written.push(written);
    return answer;
  }

  #saved = (name: string): Json => ({ name, revision: REVISION, warnings: [] });

  read: SopAuthor["read"] = (name) => this.#answer(name, { name, revision: REVISION, unwritable: null, ...DRAFT });
  check: SopAuthor["check"] = ({ name }) => this.#answer(name, DRAFT);
  save: SopAuthor["save"] = (name, files, by) => this.#answer(name, this.#saved(name), "save", name, files, by);
  duplicate: SopAuthor["duplicate"] = (name, copy, by) =>
    this.#answer(name, this.#saved(copy), "duplicate", name, copy, by);
  setEnabled: SopAuthor["setEnabled"] = (name, enabled, by) =>
    this.#answer(name, this.#saved(name), "enabled", name, enabled, by);
}
