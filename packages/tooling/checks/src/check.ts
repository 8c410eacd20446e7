/** What a check is: a pure function from the files of the checkout to the places that break its rule. */
import type { Workspace } from "./workspace.ts";

export interface Check {
  /** Short and stable: what `--only` takes. */
  readonly id: string;
  /** The rule in one sentence. */
  readonly rule: string;
  find(workspace: Workspace): readonly Finding[];
}

export interface Finding {
  /** Path from the root of the checkout, with `/`. */
  readonly file: string;
  /** From 1; absent when the file as a whole is meant. */
  readonly line?: number;
  /** The problem. */
  readonly message: string;
  /** The next step. */
  readonly fix: string;
  /** Told, but does not fail the run. */
  readonly warning?: true;
}
