/** What a generated page is, and how text of the code becomes text of a page. */

export interface GeneratedPage {
  /** From the root of the checkout, with `/`. */
  readonly path: string;
  /** `files`: text by path from the root, of everything in the checkout. */
  render(files: ReadonlyMap<string, string>): string;
}

/** Below the title: the page's source, so that contributors don't edit the page by hand. */
export const madeFrom = (source: string): string => `<!-- Made by \`npm run checks -- --write\` from ${source}. -->`;

/** A sentence of the code in running text: the site would read `<name>` as a tag, and `{{` as a template. */
export const prose = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;");

/** The same in the cell of a table, which is one line. */
export const cell = (text: string): string =>
  prose(text)
    .replaceAll("|", "\\|")
    .replaceAll(/\s*\n\s*/g, " ");

/** Code in the cell of a table. */
export const codeCell = (text: string): string => `\`${text.replaceAll("|", "\\|")}\``;

/** As a TOML file has it, and the examples of a page. */
export const literal = (value: unknown): string => `\`${JSON.stringify(value)}\``;
