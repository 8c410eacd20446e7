/** Markdown as the formatter leaves it, and the parts of a page that the checks read. */

/** A table with aligned columns: what the formatter would make of it, so that a written page passes it unchanged. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? "").padEnd(width)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)].join("\n");
}

export interface MarkdownLine {
  readonly text: string;
  /** From 1. */
  readonly line: number;
  /** Language of the fenced block it is in; `""` for a block without one, undefined outside. */
  readonly fence: string | undefined;
}

export function markdownLines(text: string): MarkdownLine[] {
  let mark: string | undefined;
  let fence: string | undefined;
  return text.split("\n").flatMap((content, index) => {
    const edge = /^\s*(`{3,}|~{3,})\s*(\S*)/.exec(content);
    if (edge && mark === undefined) {
      [mark, fence] = [edge[1], edge[2] ?? ""];
      return [];
    }
    if (edge && mark !== undefined && edge[1]?.startsWith(mark) === true) {
      [mark, fence] = [undefined, undefined];
      return [];
    }
    return [{ text: content, line: index + 1, fence }];
  });
}

/** Anchors of a page's headings, as code hosts make them; the site makes the same. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const { text: content, fence } of markdownLines(text)) {
    const heading = fence === undefined ? /^#{1,6}\s+(.+?)\s*#*$/.exec(content)?.[1] : undefined;
    if (heading === undefined) continue;
    const slug = slugOf(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", ""));
    let name = slug;
    for (let count = 1; anchors.has(name); count += 1) name = `${slug}-${count}`;
    anchors.add(name);
  }
  return anchors;
}

/** The anchor of a heading's plain text. */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
