/** A file one can read on a few screens. Past that, it has a second subject that wants a name of its own. */
import type { Check } from "../check.ts";
import { isTest } from "@svc/source";

const SOURCE = /\.(?:ts|tsx|mts|js|mjs|css|html|sh|ps1|bat)$/;
/** Lists of test vectors, and the texts of the page in each language: data, as long as they are many. */
const DATA = /(?:^|\/)vectors\/|^apps\/dashboard\/src\/texts\/(?:settings\/)?[a-z]{2}(?:-[a-z]+)?\.ts$/;
/** Lines from which a file is told about, and from which it fails. A test file is a list of cases: it may be longer. */
const LIMITS = { source: { told: 200, fails: 300 }, test: { told: 300, fails: 500 } } as const;

export const fileSize: Check = {
  id: "file-size",
  rule: `A source file has at most ${LIMITS.source.fails} lines, a test file ${LIMITS.test.fails}.`,
  find: (workspace) =>
    [...workspace.files].flatMap(([file, text]) => {
      if (!SOURCE.test(file) || DATA.test(file)) return [];
      const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
      const { told, fails } = isTest(file) ? LIMITS.test : LIMITS.source;
      if (lines <= told) return [];
      const message = `${lines} lines.`;
      const fix = "Move one of its subjects to a file named after it.";
      return [{ file, message, fix, ...(lines <= fails && { warning: true as const }) }];
    }),
};
