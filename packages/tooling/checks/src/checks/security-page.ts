/** Readers rely on the security page: each defence must name an existing test, and no entry point may be missing. */
import { markdownLines } from "@svc/docs/markdown";
import type { Check, Finding } from "../check.ts";
import { packagesOf } from "../package-files.ts";
import { walk } from "@svc/source";
import { type TestTitles, testTitles } from "../test-titles.ts";
import type { Workspace } from "../workspace.ts";

const PAGE = "docs/security.md";
const CORE_PATHS = "packages/core/gateway/src/routes/core-paths.ts";
/** Between a test file and a title, and between the titles of a `describe` and of a test in it. */
const THEN = " › ";

export const securityPage: Check = {
  id: "security-page",
  rule: "docs/security.md has every public path, and each of its threats names a test that exists.",
  find(workspace) {
    const text = workspace.files.get(PAGE);
    if (text === undefined) return [{ file: PAGE, message: "The page is missing.", fix: "Write it." }];
    const lines = markdownLines(text).filter(({ fence }) => fence === undefined);
    const tests = testsOf(workspace);
    const endpoints = between(lines, "endpoints");
    const threats = between(lines, "threats");
    return [
      ...(endpoints === undefined ? [marksMissing("endpoints")] : wrongEndpoints(endpoints, workspace)),
      ...(threats === undefined ? [marksMissing("threats")] : unproven(threats)),
      ...lines.flatMap((line) => wrongReferences(line, tests)),
    ];
  },
};

interface Line {
  readonly text: string;
  readonly line: number;
}

const wrong = (line: number, message: string, fix: string): Finding => ({ file: PAGE, line, message, fix });

const marksMissing = (name: string): Finding => ({
  file: PAGE,
  message: `Nothing stands between <!-- ${name} --> and <!-- /${name} -->.`,
  fix: "Put it there.",
});

/** Undefined: the marks are not there, or nothing between them. */
function between(lines: readonly Line[], name: string): Line[] | undefined {
  const at = (mark: string): number => lines.findIndex(({ text }) => text === mark);
  const [start, end] = [at(`<!-- ${name} -->`), at(`<!-- /${name} -->`)];
  const inside = start < 0 || end < start ? [] : lines.slice(start + 1, end).filter(({ text }) => text.trim() !== "");
  return inside.length === 0 ? undefined : inside;
}

const spansIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);

/** The first cell of each row has the paths, with or without a method. */
function wrongEndpoints(rows: readonly Line[], workspace: Workspace): Finding[] {
  const named = rows.flatMap(({ text, line }) =>
    spansIn(text.split("|")[1] ?? "").flatMap((span) => {
      const path = /^(?:[A-Z]+ )?(\/\S*)$/.exec(span)?.[1];
      return path === undefined ? [] : [{ path, line }];
    }),
  );
  const known = publicPaths(workspace);
  const missing = [...known].filter(
    ([path, from]) => !named.some((endpoint) => endpoint.path === path) && isInProfile(from, workspace),
  );
  return [
    ...missing.map(([path, from]) =>
      wrong(
        rows[0]!.line,
        `The table has no row for ${path} of ${from}.`,
        "Say who may call it, and what proves that.",
      ),
    ),
    ...named
      .filter(({ path }) => !known.has(path))
      .map(({ path, line }) =>
        wrong(line, `No route serves ${path}.`, "Remove it, or write the path as it is declared."),
      ),
  ];
}

/** A feature that `pnpm new` has just made is in no profile yet, so no build exposes it: its row comes with the profile. */
function isInProfile(from: string, { files }: Workspace): boolean {
  const id = JSON.stringify(from.replace(/^@svc\//, ""));
  return from === "core" || [...files].some(([file, text]) => file.startsWith("profiles/") && text.includes(id));
}

/** The declaring package of each path: core's paths, and those of all manifests in any build. */
function publicPaths(workspace: Workspace): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const { program } of workspace.sources((file) => file === CORE_PATHS)) {
    walk(program, (node) => {
      if (node.type === "Literal" && typeof node.value === "string" && node.value.startsWith("/"))
        paths.set(node.value, "core");
    });
  }
  for (const { json, name } of packagesOf(workspace)) {
    const { ingress = [], routes = [], open = [] } = (json["svc"] ?? {}) as Partial<Record<string, string[]>>;
    for (const path of [...ingress, ...routes, ...open]) paths.set(path, name);
  }
  return paths;
}

/** A threat is a list item with its nested items. */
function unproven(lines: readonly Line[]): Finding[] {
  const threats: { line: number; text: string }[] = [];
  for (const { text, line } of lines) {
    if (text.startsWith("- ")) threats.push({ line, text });
    else if (/^\s/.test(text) && threats.length > 0) threats.at(-1)!.text += `\n${text}`;
  }
  if (threats.length === 0) return [marksMissing("threats")];
  return threats
    .filter(({ text }) => !spansIn(text).some((span) => span.includes(THEN)))
    .map(({ line }) =>
      wrong(
        line,
        "No test is named for this.",
        `Name one as \`file${THEN}title\`, or move the line to the section without tests.`,
      ),
    );
}

const wrongReferences = ({ text, line }: Line, tests: Tests): Finding[] =>
  spansIn(text)
    .filter((span) => span.includes(THEN))
    .flatMap((span) => {
      const problem = follow(span, tests);
      return problem === undefined
        ? []
        : [wrong(line, problem, "Name a test by its file and its title, as they are now.")];
    });

function follow(reference: string, tests: Tests): string | undefined {
  const [file = "", ...titles] = reference.split(THEN);
  const all = tests(file);
  if (all === undefined) return `There is no file ${file}.`;
  const whole = all.filter((test) => isMeant(test, titles, (title, words) => title === words));
  const meant = whole.length > 0 ? whole : all.filter((test) => isMeant(test, titles, begins));
  const count = new Set(meant.map((test) => test.join(THEN))).size;
  if (count === 0) return `${file} has no test "${titles.join(THEN)}".`;
  return count === 1 ? undefined : `"${titles.join(THEN)}" may be any of ${count} tests of ${file}.`;
}

/** The last title is the test's, those before it are of groups that it is in, from the outside in. */
function isMeant(
  test: TestTitles,
  titles: readonly string[],
  fits: (title: string, words: string) => boolean,
): boolean {
  const [name, ...groups] = titles.toReversed();
  const [own, ...around] = test.toReversed();
  if (name === undefined || own === undefined || !fits(own, name)) return false;
  let from = 0;
  return groups.every((group) => {
    const at = around.findIndex((each, index) => index >= from && fits(each, group));
    from = at + 1;
    return at >= 0;
  });
}

/** First words; half a word is a slip of the hand. */
const begins = (title: string, words: string): boolean =>
  words !== "" && title.startsWith(words) && (title === words || /^\W/.test(title.slice(words.length)));

/** The tests of a file; undefined: the file is missing, or no code. */
type Tests = (file: string) => readonly TestTitles[] | undefined;

function testsOf(workspace: Workspace): Tests {
  const known = new Map<string, readonly TestTitles[]>();
  return (file) => {
    const titles = known.get(file) ?? workspace.sources((path) => path === file).map(testTitles)[0];
    if (titles !== undefined) known.set(file, titles);
    return titles;
  };
}
