/** The table of profiles in the README: each profile's description, its additions, and planned features. */
import { codeCell, cell, type GeneratedPage } from "./page.ts";

export const readmePage: GeneratedPage = {
  path: "README.md",
  render(files) {
    const page = files.get("README.md") ?? "";
    const [start, end] = [page.indexOf(BEGIN), page.indexOf(END)];
    if (start < 0 || end < start) throw new Error(`README.md lacks the marks ${BEGIN} and ${END}.`);
    return `${page.slice(0, start + BEGIN.length)}\n\n${table(profilesIn(files))}\n\n${page.slice(end)}`;
  },
};

const BEGIN = "<!-- profiles: made by `npm run checks -- --write` from profiles/ -->";
const END = "<!-- /profiles -->";

interface ProfileRow {
  readonly name: string;
  readonly summary: string;
  readonly base: string | undefined;
  readonly features: readonly string[];
  readonly planned: readonly string[];
}

/** A profile comes after the profile that it extends. */
function profilesIn(files: ReadonlyMap<string, string>): ProfileRow[] {
  const rows = [...files].flatMap(([path, text]) => {
    const name = /^profiles\/([a-z-]+)\.toml$/.exec(path)?.[1];
    return name === undefined || name === "planned" ? [] : [rowOf(name, text)];
  });
  const depthOf = ({ base }: ProfileRow): number => {
    const below = rows.find(({ name }) => name === base);
    return below === undefined ? 0 : depthOf(below) + 1;
  };
  return rows.toSorted((a, b) => depthOf(a) - depthOf(b) || (a.name < b.name ? -1 : 1));
}

/** Plain keys and lists of text: what the composer's own reader takes more of is not shown here. */
function rowOf(name: string, text: string): ProfileRow {
  const word = (key: string): string | undefined => new RegExp(`^${key} = "([^"]*)"`, "m").exec(text)?.[1];
  const list = (key: string): string[] =>
    [...(new RegExp(`^${key} = \\[([^\\]]*)\\]`, "m").exec(text)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map(
      ([, id = ""]) => id,
    );
  return {
    name,
    summary: word("summary") ?? "",
    base: word("extends"),
    features: list("features"),
    planned: list("planned"),
  };
}

function table(rows: readonly ProfileRow[]): string {
  const lines = rows.map((row) => [
    codeCell(row.name),
    cell(row.summary),
    contents(row),
    codeCell(`pnpm build ${row.name}`),
  ]);
  const all = [["profile", "is", "has", "build"], ...lines];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((line) => line[column]!.length)));
  const shown = all.map((line) => `| ${line.map((text, column) => text.padEnd(widths[column]!)).join(" | ")} |`);
  return [shown[0], `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...shown.slice(1)].join("\n");
}

function contents({ base, features, planned }: ProfileRow): string {
  const own = features.map(codeCell).join(", ");
  const rest = planned.length > 0 ? `; not written yet: ${planned.map(codeCell).join(", ")}` : "";
  return `${base === undefined ? "" : `${codeCell(base)} and `}${own}${rest}`;
}
