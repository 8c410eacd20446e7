/** How a value of the payload is compared with what a condition says. */

export type Operator = ">=" | "<=" | "!=" | "==" | ">" | "<";
export type Literal = string | number | boolean | null;

/** `value` is of JSON. Never throws. */
export function compare(value: unknown, operator: Operator, literal: Literal): boolean {
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
export function readNumber(text: string): number | undefined {
  if (text.length > LONGEST_NUMBER || !/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** Undefined for a list or an object: it equals nothing. */
function textOf(value: unknown): string | undefined {
  if (value === null) return "";
  return typeof value === "object" ? undefined : String(value);
}
