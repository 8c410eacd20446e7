/**
 * When a trigger fires: `$.path op literal`, or `op literal` for a payload that is one bare value. The text is read by
 * hand, once from left to right: it comes from a file that an agent may have written, and must not hang the service.
 */
import { compare, type Literal, type Operator, readNumber } from "./compare.ts";
import { isQuote, isSpace, type JsonPath, type Read, readPath, readText, valueAt } from "./json-path.ts";
import type { PayloadReader } from "./payload.ts";

export interface Condition {
  /** Undefined: the payload itself, which must be a bare value. */
  readonly path: JsonPath | undefined;
  readonly operator: Operator;
  readonly literal: Literal;
}

/** `always`: it says nothing. `fault` completes the sentence "is no condition: …". */
export type ReadCondition = { readonly condition: Condition | "always" } | { readonly fault: string };

export function readCondition(text: string): ReadCondition {
  let at = afterSpace(text, 0);
  if (at === text.length) return { condition: "always" };
  const path = readPath(text, at);
  if (text[at] === "$" && !path) return { fault: 'the path is wrong; it is like $.name, $.list[0] or $["a b"]' };
  if (path?.value.length === 0 && endsPath(text[path.end]))
    return { fault: "$ alone is no path; for a payload that is one value leave it out: > 5" };
  at = afterSpace(text, path?.end ?? at);
  const operator = OPERATORS.find((candidate) => text.startsWith(candidate, at));
  if (!operator) return { fault: operatorFault(text, at, path !== undefined) };
  at = afterSpace(text, at + operator.length);
  const literal = readLiteral(text, at);
  if (!literal)
    return {
      fault: "after the operator belongs text, a number, true, false or null; quote text that is no plain word",
    };
  if (afterSpace(text, literal.end) < text.length)
    return { fault: "nothing may follow the value; one comparison is all" };
  return { condition: { path: path?.value, operator, literal: literal.value } };
}

/** False for no payload, bad JSON and a place that is not there, whatever the operator. Never throws. */
export function holds({ path, operator, literal }: Condition, payload: PayloadReader): boolean {
  const root = payload();
  if (root === undefined) return false;
  const value = path ? valueAt(root, path) : root;
  if (value === undefined || (!path && typeof value === "object" && value !== null)) return false;
  return compare(value, operator, literal);
}

/** The longer ones first: `>` begins `>=`. */
const OPERATORS: readonly Operator[] = [">=", "<=", "!=", "==", ">", "<"];

const endsPath = (character: string | undefined): boolean =>
  character === undefined || isSpace(character) || "<>=!".includes(character);

function operatorFault(text: string, at: number, hasPath: boolean): string {
  if (text[at] === "=") return "equality is written ==";
  const operators = "one of >= <= != == > <";
  return hasPath ? `after the path belongs ${operators}` : `it begins with a path, like $.name, or with ${operators}`;
}

const WORDS: readonly (readonly [string, Literal])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

function readLiteral(text: string, start: number): Read<Literal> | undefined {
  if (isQuote(text[start])) return readText(text, start);
  let end = start;
  while (end < text.length && !isSpace(text[end])) end += 1;
  const written = text.slice(start, end);
  const word = WORDS.find(([name]) => name === written);
  const value = word ? word[1] : (readNumber(written) ?? readWord(written));
  return value === undefined ? undefined : { value, end };
}

/** Text without quotes begins with a letter, so that a mistyped number or operator stays a fault. */
function readWord(written: string): string | undefined {
  return written.length <= LONGEST_WORD && /^\p{L}[\p{L}\p{M}\p{N}_.:/@+-]*$/u.test(written) ? written : undefined;
}

const LONGEST_WORD = 256;

function afterSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text[at])) at += 1;
  return at;
}
