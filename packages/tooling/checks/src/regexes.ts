/** The regular expressions of a source file, and whether the time each may take grows faster than the text that it looks at. */
import { hash } from "node:crypto";
import { createRequire } from "node:module";
import { parseRegExpLiteral, visitRegExpAST } from "@eslint-community/regexpp";
import { type Source, walk } from "@svc/source";

export interface Regex {
  readonly file: string;
  readonly line: number;
  /** Empty for one built from parts: then `made` holds the parts. */
  readonly pattern: string;
  readonly flags: string;
  readonly made?: string;
}

export const written = ({ pattern, flags }: Pick<Regex, "pattern" | "flags">): string => `/${pattern}/${flags}`;

/** Literals, and what `RegExp` is called with. */
export function regexesOf({ file, text, program, lineOf }: Source): Regex[] {
  const found: Regex[] = [];
  walk(program, (node) => {
    const line = lineOf(node.start);
    if (node.type === "Literal" && "regex" in node && node.regex) {
      found.push({ file, line, pattern: node.regex.pattern, flags: node.regex.flags });
    } else if (
      (node.type === "NewExpression" || node.type === "CallExpression") &&
      node.callee.type === "Identifier" &&
      node.callee.name === "RegExp"
    ) {
      const made = node.arguments.map(({ start, end }) => text.slice(start, end).replaceAll(/\s+/g, " ")).join(", ");
      found.push({ file, line, pattern: "", flags: "", made });
    }
  });
  return found;
}

/** As `/pattern/flags` writes it. */
export function readWritten(literal: string): Pick<Regex, "pattern" | "flags"> {
  const end = literal.lastIndexOf("/");
  return { pattern: literal.slice(1, end), flags: literal.slice(end + 1) };
}

/**
 * What the verdict depends on; undefined where nothing repeats without end, so that the time is bounded for each place the
 * match may begin at. `{1,250}` is written as `{1,3}`: it multiplies the time, which grows as it does without it, and
 * unrolled it would keep the detector busy for minutes.
 */
export function essenceOf({ pattern, flags }: Pick<Regex, "pattern" | "flags">): string | undefined {
  const literal = parseRegExpLiteral(written({ pattern, flags }));
  const changes: { readonly start: number; readonly end: number; readonly text: string }[] = [];
  let isBounded = true;
  visitRegExpAST(literal, {
    onQuantifierEnter({ min, max, greedy, element, end, raw }) {
      if (max === Number.POSITIVE_INFINITY) isBounded = false;
      if (!raw.slice(element.raw.length).startsWith("{")) return;
      const most = max === Number.POSITIVE_INFINITY ? "" : Math.min(max, 3);
      const times = min === max ? `{${Math.min(min, 2)}}` : `{${Math.min(min, 2)},${most}}`;
      changes.push({ start: element.end, end, text: greedy ? times : `${times}?` });
    },
  });
  if (isBounded) return undefined;
  let text = literal.raw;
  for (const change of changes.toSorted((left, right) => right.start - left.start))
    text = text.slice(0, change.start) + change.text + text.slice(change.end);
  // Where a search begins is not the pattern's to say: `g` and `y` are judged as a search from every place.
  return `${text.slice(0, text.lastIndexOf("/") + 1)}${flags.replaceAll(/[gy]/g, "")}`;
}

/** Names an essence in the list of those that were judged by this version of the detector. */
export const fingerprint = (essence: string): string => hash("sha256", `recheck 4.5.0 ${essence}`, "hex").slice(0, 16);

const JUDGED_MS = 120_000;

/** Why it is not known to be linear; undefined: it is. Takes a moment; for a few, seconds. */
export function slowness(essence: string): string | undefined {
  const { pattern, flags } = readWritten(essence);
  const verdict = checkSync(pattern, flags, { timeout: JUDGED_MS });
  if (verdict.status === "safe") return undefined;
  if (verdict.status === "unknown") return `can't be judged (${verdict.error.kind})`;
  return `is ${verdict.complexity.type}: ${verdict.complexity.summary}, on ${verdict.attack.pattern}`;
}

type Recheck = typeof import("recheck");

/** In JavaScript, on every machine the same. Evaluated when something is to be judged: it takes a quarter of a second. */
function checkSync(...judged: Parameters<Recheck["checkSync"]>): ReturnType<Recheck["checkSync"]> {
  const { checkSync: judge } = createRequire(import.meta.url)("recheck/lib/browser.js") as Recheck;
  return judge(...judged);
}
