/**
 * When a trigger fires: `$.path op literal`, or `op literal` for a payload that is one bare value. The text is read by
 * hand, once from left to right: it comes from a file that an agent may have written, and must not hang the service.
 */
import { type JsonPath, type Read, isQuote, isSpace, readPath, readText, valueAt } from "./json-path.ts";

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

/** How a value of the payload is compared with what a condition says. */
type Operator = ">=" | "<=" | "!=" | "==" | ">" | "<";
type Literal = string | number | boolean | null;

/** `value` is of JSON. Never throws. */
function compare(value: unknown, operator: Operator, literal: Literal): boolean {
  if (operator === "==") return isEqual(value, literal);
  if (operator === "!=") return !isEqual(value, literal);
  const order = orderOf(value, literal);
  if (order === undefined) return false;
  switch (operator) {
    case ">":
      return order > 0;
    case "<":
      return order < 0;
    case ">=":
      return order >= 0;
    case "<=":
      return order <= 0;
  }
}

/** Loosely: forms and gauges send 42 and true as text, and nothing as null. */
function isEqual(value: unknown, literal: Literal): boolean {
  const numbers = typeof value === "number" || typeof literal === "number" ? bothNumbers(value, literal) : undefined;
  return numbers ? numbers[0] === numbers[1] : textOf(value) === textOf(literal);
}

/** Below 0: `value` comes first. Undefined for what has no order. */
function orderOf(value: unknown, literal: Literal): number | undefined {
  const numbers = bothNumbers(value, literal);
  if (numbers) return numbers[0] - numbers[1];
  if (typeof value !== "string" || typeof literal !== "string") return undefined;
  return value < literal ? -1 : Number(value > literal);
}

function bothNumbers(value: unknown, literal: Literal): readonly [number, number] | undefined {
  const [left, right] = [numberOf(value), numberOf(literal)];
  return left === undefined || right === undefined ? undefined : [left, right];
}

/** Undefined for what is neither a number nor text that is one. */
function numberOf(value: unknown): number | undefined {
  const number = typeof value === "string" ? readNumber(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** Longer than any number that a person or a program writes; what is longer is not looked at digit by digit. */
const LONGEST_NUMBER = 64;

/** Decimal, e.g. -3.5e2. JavaScript itself takes blanks and 0x10 for numbers too. */
function readNumber(text: string): number | undefined {
  if (text.length > LONGEST_NUMBER || !/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** Undefined for a list or an object: it equals nothing. */
function textOf(value: unknown): string | undefined {
  if (value === null) return "";
  return typeof value === "object" ? undefined : String(value);
}

// The payload of an event, parsed when the first condition asks, and once for all of them.

/** Undefined: there is none, or it is not JSON. */
export type PayloadReader = () => unknown;

export function payloadReader(text: string | null): PayloadReader {
  let read: { readonly value: unknown } | undefined;
  return () => (read ??= { value: parsed(text) }).value;
}

function parsed(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
