/** docs/decisions/index.md: the decisions there are, by their titles. */
import type { GeneratedPage } from "./page.ts";
import { madeFrom } from "./page.ts";

const FOLDER = "docs/decisions/";

export const decisionPage: GeneratedPage = {
  path: `${FOLDER}index.md`,
  render: (files) => `# Decisions

${madeFrom("the titles of the pages beside it")}

What was decided, what it was measured against, and what it costs. A decision is not edited when it is overtaken: a later one says so.

${decisions(files)
  .map(({ file, title }) => `- [${title}](${file})`)
  .join("\n")}
`,
};

interface Decision {
  /** `0001-….md` */
  readonly file: string;
  readonly title: string;
}

/** In the order of their numbers. */
export function decisions(files: ReadonlyMap<string, string>): Decision[] {
  return [...files]
    .filter(([path]) => /^docs\/decisions\/\d{4}-[^/]+\.md$/.test(path))
    .map(([path, text]) => ({ file: path.slice(FOLDER.length), title: /^# (.+)$/m.exec(text)?.[1] ?? path }))
    .toSorted((left, right) => (left.file < right.file ? -1 : 1));
}
