/** A text as it is meant: blocks one below the other, and in them text with its formatting. */

/** `gap`: line breaks between a block and the one before it; 0 for the first, 2 where there is one blank line. */
export type Block = { readonly gap: number } & (Paragraph | Heading | List | Quote | Code | Table | Definition | Rule);

export interface Paragraph {
  readonly kind: "paragraph";
  readonly inlines: readonly Inline[];
}

export interface Heading {
  readonly kind: "heading";
  /** 1 to 6. */
  readonly level: number;
  readonly inlines: readonly Inline[];
}

export interface List {
  readonly kind: "list";
  readonly items: readonly Item[];
}

export interface Item {
  /** As of a block. */
  readonly gap: number;
  /** As it was written, `3.` or `3)`; undefined: a bullet. */
  readonly number: string | undefined;
  readonly task: "open" | "done" | undefined;
  readonly blocks: readonly Block[];
}

export interface Quote {
  readonly kind: "quote";
  readonly blocks: readonly Block[];
}

export interface Code {
  readonly kind: "code";
  readonly text: string;
  /** What stands behind the opening fence: the name of a language, as a rule. */
  readonly info: string;
}

export interface Table {
  readonly kind: "table";
  /** The first row is the head. All have as many cells. */
  readonly rows: readonly (readonly Cell[])[];
  readonly align: readonly Align[];
}

export type Cell = readonly Inline[];
export type Align = "left" | "center" | "right" | undefined;

/** `[label]: https://…`, to which links refer: as it was written. */
export interface Definition {
  readonly kind: "definition";
  readonly text: string;
}

export interface Rule {
  readonly kind: "rule";
}

/** A text has no line breaks. */
export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "bold" | "italic" | "strike"; readonly children: readonly Inline[] }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "break" }
  | Link;

export interface Link {
  readonly kind: "link";
  /** `bare`: an address in the text, which is its own label. A picture is a link to it. */
  readonly form: "labelled" | "image" | "bare";
  /** The target: http, https, mailto or tel. Undefined: not safe to link to. */
  readonly url: string | undefined;
  /** The address as written. */
  readonly target: string;
  readonly children: readonly Inline[];
}
