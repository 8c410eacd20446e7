/** Pages made of the code: the one way that a reference can't be out of date. */
import type { GeneratedPage } from "@svc/docs";
import type { Check } from "../check.ts";

export const generatedPages = (pages: () => readonly GeneratedPage[]): Check => ({
  id: "generated-pages",
  rule: "A page made of the code is what the code says.",
  find: (workspace) =>
    pages().flatMap(({ path, render }) => {
      const expected = render(workspace.files).split("\n");
      const actual = workspace.files.get(path)?.split("\n");
      const fix = "Run: npm run checks -- --write";
      if (!actual) return [{ file: path, message: "The page is missing.", fix }];
      const line = expected.findIndex((text, index) => text !== actual[index]);
      if (line < 0 && actual.length === expected.length) return [];
      return [{ file: path, line: line < 0 ? expected.length : line + 1, message: "The page is out of date.", fix }];
    }),
});
