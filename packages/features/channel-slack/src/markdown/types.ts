/** An answer as it is understood: blocks one below the other, and in them runs of text of one style each. */

export interface Style {
  readonly bold?: true;
  readonly italic?: true;
  readonly strike?: true;
  readonly code?: true;
}

/** A piece of text that looks the same from its beginning to its end; a line break is a `\n` in it. */
export interface Run extends Style {
  readonly text: string;
  /** Where it leads; `http`, `https`, `mailto` or `tel`. */
  readonly url?: string;
}

export type Block =
  /** `prefix`: what stands before it, the indentation and the mark of a list's item. */
  | { readonly kind: "text"; readonly gap: number; readonly prefix: string; readonly runs: readonly Run[] }
  | { readonly kind: "code"; readonly gap: number; readonly text: string }
  | { readonly kind: "quote"; readonly gap: number; readonly blocks: readonly Block[] }
  | { readonly kind: "rule"; readonly gap: number };

/** `gap` of a block: line breaks between it and the one before; 0 for the first. */
export const MOST_GAP = 3;
