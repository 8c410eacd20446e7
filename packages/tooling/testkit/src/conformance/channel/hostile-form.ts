/** Forms that no platform posts: genuine ones in which something is not what it should be. */
import * as fc from "fast-check";

type Fields = readonly (readonly [name: string, value: string])[];

const ODD_VALUES: readonly string[] = [
  "",
  " ",
  "0",
  "-1",
  "9".repeat(17),
  "null",
  "{}",
  "[object Object]",
  "\u0000",
  "\uFFFD",
  "a\r\nb",
  "../..",
  "constructor",
  "__proto__",
  "x".repeat(1000),
  "<a href='&'>",
];

/** With each of its values replaced in turn by each of the odd ones, taken out, doubled, and under another name. */
export function* everyAlteredForm(genuine: Fields): Generator<Uint8Array> {
  for (const [at, [name, value]] of genuine.entries()) {
    for (const odd of ODD_VALUES) yield written(genuine.with(at, [name, odd]));
    yield written(genuine.toSpliced(at, 1));
    yield written([...genuine, [name, "another"]]);
    yield written([[name, "another"], ...genuine]);
    yield written(genuine.with(at, [`${name}[]`, value]));
    yield written(genuine.with(at, ["__proto__", value]));
  }
}

/** With up to four of its fields so. */
export const alteredForm = (genuine: Fields): fc.Arbitrary<Uint8Array> =>
  fc
    .array(
      fc.record({
        at: fc.nat(),
        how: fc.constantFrom("replace", "remove", "double", "rename"),
        value: fc.oneof(fc.constantFrom(...ODD_VALUES), fc.string({ unit: "binary", maxLength: 40 })),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((changes) => {
      let fields = genuine;
      for (const { at, how, value } of changes) {
        const index = at % Math.max(1, fields.length);
        const [name, before] = fields[index] ?? ["", ""];
        if (how === "remove") fields = fields.toSpliced(index, 1);
        else if (how === "double") fields = [...fields, [name, value]];
        else if (how === "rename") fields = fields.toSpliced(index, 1, [value, before]);
        else fields = fields.toSpliced(index, 1, [name, value]);
      }
      return written(fields);
    });

const written = (fields: Fields): Uint8Array =>
  Buffer.from(new URLSearchParams(fields.map(([name, value]) => [name, value])).toString());
