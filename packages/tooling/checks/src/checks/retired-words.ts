/** A private word that comes back costs every reader time. The list says what to write instead. */
import { parse } from "@iarna/toml";
import { markdownLines } from "@svc/docs/markdown";
import * as v from "valibot";
import type { Check, Finding } from "../check.ts";
import type { Workspace } from "../workspace.ts";

export const RETIRED_LIST = "packages/tooling/checks/retired-words.toml";

const TEXT = v.pipe(v.string(), v.nonEmpty());

const LIST = v.strictObject({
  source_folders: v.optional(v.array(TEXT), []),
  retired: v.array(
    v.strictObject({
      words: v.pipe(v.array(TEXT), v.nonEmpty()),
      use: TEXT,
      in: v.pipe(v.array(v.picklist(["docs", "source", "code"])), v.nonEmpty()),
    }),
  ),
  exempt: v.array(v.strictObject({ path: TEXT, why: TEXT })),
});

export const retiredWords: Check = {
  id: "retired-words",
  rule: `No word that ${RETIRED_LIST} retires is in the prose of a Markdown page, in the text of a source file in its folders, or a name in code.`,
  find(workspace) {
    const { source_folders: folders, retired, exempt } = readList(workspace);
    const entriesFor = (place: "docs" | "source") =>
      retired
        .filter((entry) => entry.in.includes(place))
        .map(({ words, use }) => ({ use, pattern: matcher(words, LINE_BREAK[place]) }));
    const [docs, source] = [entriesFor("docs"), entriesFor("source")];
    const code = retired
      .filter((entry) => entry.in.includes("code"))
      .flatMap(({ words, use }) => {
        const names = words.filter((word) => !word.includes(" "));
        return names.length === 0 ? [] : [{ use, pattern: nameMatcher(names) }];
      });
    return [...workspace.files].flatMap(([file, text]) => {
      if (SOURCE.test(file)) {
        const inText = folders.some((folder) => file.startsWith(folder))
          ? wordsIn(file, text, source).filter(isProse)
          : [];
        return [...inText, ...wordsIn(file, namesOf(text), code)];
      }
      return file.endsWith(".md") && !exempt.some(({ path }) => file.startsWith(path))
        ? wordsIn(file, proseOf(text), docs)
        : [];
    });
  },
};

const SOURCE = /\.(?:ts|tsx|mjs)$/;
/** A phrase may go over the end of a line: in source, into the next line of the same comment. */
const LINE_BREAK = { docs: "\\n *", source: "\\n *(?:\\*|//)? *" } as const;

type Entry = { readonly use: string; readonly pattern: RegExp };

const wordsIn = (file: string, text: string, entries: readonly Entry[]): Finding[] =>
  entries.flatMap(({ use, pattern }) =>
    [...text.matchAll(pattern)].map((match) => found(file, lineAt(text, match.index), match[0], use)),
  );

/** Names are not checked: `NOBODY` and `anyBody` may stay. */
const isProse = ({ message }: Finding): boolean => /"[A-Za-z][a-z ]*"/.test(message);

/** Throws when the list is missing or malformed. */
function readList({ files }: Workspace): v.InferOutput<typeof LIST> {
  const text = files.get(RETIRED_LIST);
  if (text === undefined) throw new Error(`${RETIRED_LIST} is missing.`);
  return v.parse(LIST, parse(text));
}

/** Whole words, in upper or lower case; a phrase may go over the end of a line, but not of a paragraph. */
function matcher(words: readonly string[], lineBreak: string): RegExp {
  const forms = words.map((word) =>
    word
      .split(" ")
      .map((part) => RegExp.escape(part))
      .join(`(?: |${lineBreak})`),
  );
  return new RegExp(`(?<![\\w-])(?:${forms.join("|")})(?![\\w-])`, "gi");
}

/** One of these as a whole name, in the case that is listed. */
const nameMatcher = (words: readonly string[]): RegExp =>
  new RegExp(`(?<![\\w$])(?:${words.map((word) => RegExp.escape(word)).join("|")})(?![\\w$])`, "g");

/** The code with its line numbers, without comments and texts. */
const namesOf = (text: string): string =>
  text.replace(/\/\*[^]*?\*\/|\/\/[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, (quoted) =>
    quoted.replace(/[^\n]/g, ""),
  );

/** The page with its line numbers, without fenced blocks, inline code, comments and the targets of links. */
function proseOf(text: string): string {
  const lines: string[] = [];
  for (const { text: content, line, fence } of markdownLines(text)) {
    lines[line - 1] = fence === undefined ? content.replace(/`[^`]*`/g, "`").replace(/\]\([^)]*\)/g, "]") : "";
  }
  return Array.from(lines, (line) => line ?? "")
    .join("\n")
    .replace(/<!--.*?-->/gs, (comment) => comment.replace(/[^\n]/g, ""));
}

const lineAt = (text: string, index: number): number => text.slice(0, index).split("\n").length;

const found = (file: string, line: number, word: string, use: string): Finding => ({
  file,
  line,
  message: `The word "${word.replace(/\s+(?:(?:\*|\/\/)\s*)?/g, " ")}" is retired.`,
  fix: `Write instead: ${use}.`,
});
