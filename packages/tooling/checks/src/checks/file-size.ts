/** A file one can read on a few screens. Past that, it has a second subject that wants a name of its own. */
import type { Check } from "../check.ts";

const SOURCE = /\.(?:ts|mts|js|mjs|css|html|sh|ps1|bat)$/;
const LARGEST = 300;
const COMFORTABLE = 200;

export const fileSize: Check = {
  id: "file-size",
  rule: `A source file has at most ${LARGEST} lines; about ${COMFORTABLE} is comfortable.`,
  find: (workspace) =>
    [...workspace.files].flatMap(([file, text]) => {
      if (!SOURCE.test(file) || /(?:^|\/)vectors\//.test(file)) return [];
      const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
      if (lines <= COMFORTABLE) return [];
      const message = `${lines} lines.`;
      const fix = "Move one of its subjects to a file named after it.";
      return [{ file, message, fix, ...(lines <= LARGEST && { warning: true as const }) }];
    }),
};
