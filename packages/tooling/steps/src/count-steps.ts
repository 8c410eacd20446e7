/**
 * `@svc/steps`: what a reader does with a text, in steps and not in seconds: each step of a regular expression, and each character or
 * element that a method of strings and arrays looks at. Loops count where they ask such a method for a character.
 */
import { CountedRegex } from "./counted-regex.ts";

/** Steps of `run`, which must be synchronous: nothing else may run meanwhile. */
export function countSteps(run: () => unknown): number {
  let steps = 0;
  let isOurs = false;
  /** A fault of the counting, kept here because the code under test may throw and catch errors. */
  let fault: Error | undefined;
  /** The counting code itself is not counted. */
  const uncounted = <T>(work: () => T): T => {
    isOurs = true;
    try {
      return work();
    } finally {
      isOurs = false;
    }
  };
  const undo: (() => void)[] = [];
  const wrap = (prototype: object, name: string, cost: Cost): void => {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)!;
    const real = descriptor.value as Method;
    function counted(this: never, ...given: never[]): unknown {
      if (isOurs) return real.apply(this, given);
      const result = real.apply(this, given);
      uncounted(() => (steps += cost(this, result as never, given)));
      return result;
    }
    Object.defineProperty(prototype, name, { ...descriptor, value: counted });
    undo.push(() => Object.defineProperty(prototype, name, descriptor));
  };
  countExpressions(
    (more) => (steps += more),
    (why) => (fault ??= why),
    uncounted,
    () => isOurs,
    undo,
  );
  for (const [name, cost] of Object.entries(OF_STRINGS)) wrap(String.prototype, name, cost);
  for (const [name, cost] of Object.entries(OF_ARRAYS)) wrap(Array.prototype, name, cost);
  steps = 0;
  try {
    run();
  } finally {
    for (const back of undo.toReversed()) back();
  }
  if (fault !== undefined) throw fault;
  return steps;
}

type Method = (this: never, ...given: never[]) => unknown;
type Cost = (self: never, result: never, given: readonly never[]) => number;

const regexes = new Map<string, CountedRegex>();

/** Every method of strings and of regular expressions ends in `exec`, once that is another than the built-in one. */
function countExpressions(
  add: (steps: number) => void,
  fail: (fault: Error) => void,
  uncounted: <T>(work: () => T) => T,
  isOurs: () => boolean,
  undo: (() => void)[],
): void {
  const { prototype }: { prototype: Pick<RegExp, "exec"> } = RegExp;
  const real = prototype.exec;
  prototype.exec = function exec(this: RegExp, text: string) {
    if (isOurs()) return real.call(this, text);
    return uncounted(() => {
      const { source, flags, lastIndex, global, sticky } = this;
      const key = `/${source}/${flags}`;
      const counted = regexes.get(key) ?? new CountedRegex(source, flags);
      regexes.set(key, counted);
      const { steps, match } = counted.run(String(text), global || sticky ? lastIndex : 0);
      add(steps);
      const found = real.call(this, text);
      if (found?.index !== match?.[0] || (found && found.index + found[0].length !== match?.[1]))
        fail(new Error(`${key} was counted otherwise than it runs`));
      return found;
    });
  };
  undo.push(() => {
    prototype.exec = real;
  });
}

const length = (self: { readonly length: number }): number => self.length + 1;
const one: Cost = () => 1;

/** Up to where it was found. */
const forwards = (self: string, found: number, [, from = 0]: readonly unknown[]): number =>
  (found < 0 ? self.length : found) - Math.min(self.length, Number(from)) + 1;

const OF_STRINGS: Readonly<Record<string, Cost>> = {
  indexOf: forwards as Cost,
  includes: ((self: string, found: boolean, [needle, from]: readonly unknown[]) =>
    forwards(self, found ? self.indexOf(String(needle), Number(from ?? 0)) : -1, [needle, from])) as Cost,
  lastIndexOf: ((self: string, found: number, [, from = self.length]: readonly unknown[]) =>
    Math.min(self.length, Number(from)) - found + 1) as Cost,
  startsWith: ((_self: string, _found: boolean, [needle]: readonly unknown[]) => String(needle).length + 1) as Cost,
  endsWith: ((_self: string, _found: boolean, [needle]: readonly unknown[]) => String(needle).length + 1) as Cost,
  split: ((self: string, _all: string[], [by]: readonly unknown[]) =>
    typeof by === "string" ? length(self) : 1) as Cost,
  replace: ((self: string, _all: string, [by]: readonly unknown[]) =>
    typeof by === "string" ? length(self) : 1) as Cost,
  replaceAll: ((self: string, _all: string, [by]: readonly unknown[]) =>
    typeof by === "string" ? length(self) : 1) as Cost,
  trim: ((self: string, left: string) => self.length - left.length + 1) as Cost,
  trimStart: ((self: string, left: string) => self.length - left.length + 1) as Cost,
  trimEnd: ((self: string, left: string) => self.length - left.length + 1) as Cost,
  toLowerCase: length as Cost,
  toUpperCase: length as Cost,
  normalize: length as Cost,
  toWellFormed: length as Cost,
  isWellFormed: length as Cost,
  repeat: ((_self: string, all: string) => length(all)) as Cost,
  padStart: ((_self: string, all: string) => length(all)) as Cost,
  padEnd: ((_self: string, all: string) => length(all)) as Cost,
  slice: one,
  substring: one,
  charAt: one,
  charCodeAt: one,
  codePointAt: one,
  at: one,
};

const OF_ARRAYS: Readonly<Record<string, Cost>> = {
  slice: ((_self: unknown[], part: unknown[]) => length(part)) as Cost,
  concat: ((_self: unknown[], all: unknown[]) => length(all)) as Cost,
  flat: ((_self: unknown[], all: unknown[]) => length(all)) as Cost,
  splice: length as Cost,
  join: length as Cost,
  map: length as Cost,
  filter: length as Cost,
  flatMap: length as Cost,
  forEach: length as Cost,
  reduce: length as Cost,
  toSorted: length as Cost,
  indexOf: ((self: unknown[], found: number) => (found < 0 ? self.length : found) + 1) as Cost,
  findIndex: ((self: unknown[], found: number) => (found < 0 ? self.length : found) + 1) as Cost,
  push: one,
};

/** Building blocks of all texts: beginnings, repeated parts, and ends that prevent a match. */
const BEGINNINGS = ["", "a"] as const;
const REPEATED = [
  ..." \t\na0.,;:=<>()[]{}|*_~`\"'\\/%&@#!?-+$^",
  "a ",
  " a",
  '"\\',
  '\\"',
  "<a",
  "<a ",
  "</",
  "<!--",
  "&amp;",
  "&a",
  "![",
  "[](",
  "[a](",
  "](http://",
  "![](http://",
  "**",
  "__",
  "~~",
  "``",
  "```\n",
  "> ",
  ">",
  "- ",
  "1. ",
  "|a",
  "| ",
  "=?",
  "=?a?q?",
  "a=",
  "a;",
  "a,",
  ", ",
  "; ",
  "%a",
  "%61",
  "a.",
  "a@",
  "@a.",
  "<@",
  "http://",
  "{{",
  "$.",
  "$(",
  "\r\n",
  "\n\n",
  "\n ",
  "\u00e9",
  "\u{1f469}\u200d",
] as const;
const ENDS = ["", "\u0000!"] as const;

export interface Growth {
  /** Of how many steps are taken for four times the text: 4 for a reader that looks at each character once. */
  readonly times: number;
  readonly text: string;
}

/**
 * The worst growth over texts that keep readers busy. `read` must be synchronous and may throw. A bound on the size of what is
 * read should lie far above 400 characters, or be tested by itself.
 */
export function worstGrowth(read: (text: string) => unknown, more: readonly string[] = []): Growth {
  let worst: Growth = { times: 0, text: "" };
  const stepsOf = (text: string): number =>
    countSteps(() => {
      try {
        read(text);
      } catch {
        // Refused: the steps until then count.
      }
    });
  for (const repeated of [...REPEATED, ...more])
    for (const beginning of BEGINNINGS)
      for (const end of ENDS) {
        const text = (size: number): string => beginning + repeated.repeat(Math.ceil(size / repeated.length)) + end;
        const [few, many] = [stepsOf(text(SIZE)), stepsOf(text(4 * SIZE))];
        // A reader that gives up at once takes as many for both.
        const times = many / Math.max(few, SIZE);
        if (times > worst.times) worst = { times, text: JSON.stringify(text(12)) };
      }
  return worst;
}

const SIZE = 100;
