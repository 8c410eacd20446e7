/**
 * Colours, type sizes and radii of the page are tokens of one file. A colour elsewhere has no reviewed dark counterpart, and a size
 * elsewhere is outside the scale.
 */
import type { Check, Finding } from "../check.ts";

const STYLES = "apps/dashboard/src/styles/";
const TOKENS = `${STYLES}tokens.css`;

const RAW: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["colour", /(?:#[\da-f]{3,8}\b|\b(?:rgb|rgba|hsl|hsla|hwb|lab|lch|oklab|oklch|light-dark)\((?!\s*in\b))/i],
  ["type size", /\bfont(?:-size)?\s*:[^;]*?(?<![\w.-])[\d.]+(?:px|r?em|pt)\b/],
  ["radius", /\bborder-(?:[a-z]+-)*radius\s*:[^;]*?(?<![\w.-])[1-9][\d.]*(?:px|r?em)\b/],
];

export const pageTokens: Check = {
  id: "page-tokens",
  rule: "Colours, type sizes and radii of the page are tokens.",
  find: (workspace) =>
    [...workspace.files].flatMap(([file, text]) =>
      file.startsWith(STYLES) && file.endsWith(".css") && file !== TOKENS ? judge(file, text) : [],
    ),
};

function judge(file: string, text: string): Finding[] {
  // As long as before: the lines stay what they are.
  const code = text.replaceAll(/\/\*[^]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, " "));
  return code.split("\n").flatMap((line, index) =>
    RAW.filter(([, pattern]) => pattern.test(line)).map(([what]) => ({
      file,
      line: index + 1,
      message: `A ${what} that is no token: ${line.trim()}`,
      fix: `Use one of ${TOKENS}, or add it there for light and dark.`,
    })),
  );
}
