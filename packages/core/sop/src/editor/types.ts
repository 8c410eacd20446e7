/** What the desk takes and gives. */
import type { Problem } from "@svc/config";
import type { SopDraft, SopText } from "./draft.ts";

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
  /** What an undo names; undefined: the files say so already. */
  readonly version: number | undefined;
  readonly warnings: readonly Problem[];
}

/** After a deletion or an undo. */
export interface UndoneSop extends Omit<SavedSop, "revision"> {
  /** Undefined: there is no such procedure any more. */
  readonly revision: string | undefined;
}
