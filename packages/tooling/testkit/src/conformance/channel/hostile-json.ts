/** Bodies that no platform sends: anything at all, and genuine ones in which something is not what it should be. */
import type { Json } from "@svc/contract";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { errorText } from "../../check.ts";

const ODD_VALUES: readonly unknown[] = [
  null,
  "",
  " ",
  "0",
  "-1",
  "9".repeat(17),
  0,
  -1,
  1e300,
  2 ** 53,
  true,
  [],
  {},
  [[]],
  [null],
  "\uD800",
  "\u0000",
  // What every object has, asked of a table of words.
  "constructor",
  "__proto__",
  "x".repeat(1000),
];

const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(...ODD_VALUES),
  fc.constant(JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":1},"length":9}')),
  fc.constantFrom(
    "x".repeat(100_000),
    Array.from({ length: 1000 }, () => ({})),
  ),
);

export const anyJson: fc.Arbitrary<unknown> = odd;

/** `genuine` with up to four of its values replaced, doubled or taken out. */
export const alteredJson = (genuine: Json): fc.Arbitrary<unknown> =>
  fc
    .array(fc.record({ at: fc.nat(), how: fc.constantFrom("replace", "remove", "wrap", "double"), value: odd }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((changes) => {
      const root = { root: structuredClone(genuine) as unknown };
      for (const { at, how, value } of changes) {
        const places = placesIn(root);
        const [holder, key] = places[at % places.length] as Place;
        if (how === "remove" && holder !== root) remove(holder, key);
        else if (how === "double" && Array.isArray(holder)) holder.push(structuredClone(holder[Number(key)]));
        else put(holder, key, how === "wrap" ? [holder[key]] : structuredClone(value));
      }
      return root.root;
    });

/** `genuine` with each of its values replaced in turn by each of the odd ones, and taken out. */
export function* everyAlteration(genuine: Json): Generator<unknown> {
  for (let place = 0; place < placesIn(genuine as object).length; place += 1) {
    for (const value of [REMOVED, ...ODD_VALUES]) {
      const altered = structuredClone(genuine) as object;
      const [holder, key] = placesIn(altered)[place] as Place;
      if (value === REMOVED) remove(holder, key);
      else put(holder, key, value);
      yield altered;
    }
  }
}

const REMOVED = Symbol("removed");

function remove(holder: Holder, key: string): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

/** An assignment to `__proto__` would put nothing there. */
const put = (holder: Holder, key: string, value: unknown): unknown =>
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });

/** Like `fc.assert`, in few words: some of these values have a hundred thousand characters. */
export function holds<Values extends [unknown, ...unknown[]]>(property: fc.IProperty<Values>, count: number): void {
  const { failed, seed, counterexamplePath, counterexample, errorInstance } = fc.check(property, {
    numRuns: cases(count),
  });
  if (!failed) return;
  const values = fc.stringify(counterexample).slice(0, 1000);
  throw new Error(`${errorText(errorInstance)}\nfor ${values}\n(seed ${seed}, path ${counterexamplePath})`, {
    cause: errorInstance,
  });
}

type Holder = Record<string, unknown>;
type Place = readonly [holder: Holder, key: string];

function placesIn(holder: object): Place[] {
  return Object.entries(holder).flatMap(([key, value]) => [
    [holder as Holder, key] as const,
    ...(typeof value === "object" && value !== null ? placesIn(value as object) : []),
  ]);
}
