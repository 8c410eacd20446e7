/** Bodies that are, or nearly are, JSON. */
import * as fc from "fast-check";

const MAX_DEPTH = 100_000;
/** Made once: fast-check takes longer to make these than to draw from them. */
const anyValue = fc.jsonValue();
const anyJson = fc.json();
const anyText = fc.string({ unit: "binary" });

/** Text of a body; the mark is in it. */
export function jsonTexts(mark: string, maxBytes: number): fc.Arbitrary<string> {
  const names = fc.constantFrom("message", "device_name", "content", "id", "__proto__", "constructor", mark);
  const message = (value: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
    fc.tuple(names, value).map(([name, inner]) => `{${JSON.stringify(name)}:${JSON.stringify(inner)}}`);
  return fc.oneof(
    message(anyValue),
    message(anyText),
    anyValue.map((value) => JSON.stringify(value)),
    broken(mark),
    nested(mark),
    numbers,
    prototypes(mark),
    manyKeys(mark),
    long(mark, maxBytes),
  );
}

/** What people and half-correct programs write. */
const broken = (mark: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(
      `{"message": "${mark}",}`,
      `{'message': '${mark}'}`,
      `{message: "${mark}"}`,
      `{"message": "${mark}"} {"message": "${mark}"}`,
      `// ${mark}\n{"message": "x"}`,
      `{"message": "${mark}\n"}`,
      `{"message": "\\u12"}`,
      `{"message": "\\x41${mark}"}`,
      `{"message": NaN}`,
      `{"message": undefined, "${mark}": 1}`,
      `{"message" "${mark}"}`,
      `["${mark}"`,
      mark,
      "",
      " ",
      "\0",
      `)]}'\n{"message":"${mark}"}`,
      `{"message":"${mark}","message":7}`,
      `{"message":7,"message":"${mark}"}`,
      `{"message":"\\ud800${mark}"}`,
    ),
    fc.tuple(anyJson, fc.nat(200)).map(([text, cut]) => text.slice(0, cut)),
    anyText,
  );

const nested = (mark: string): fc.Arbitrary<string> =>
  fc
    .record({
      depth: fc.integer({ min: 100, max: MAX_DEPTH }),
      open: fc.constantFrom("[", '{"a":', '[{"message":', '{"__proto__":'),
      isClosed: fc.boolean(),
      inMessage: fc.boolean(),
    })
    .map(({ depth, open, isClosed, inMessage }) => {
      const levels = Math.floor(depth / open.length) + 1;
      const close = [...open].reverse().map((one) => ({ "[": "]", "{": "}" })[one] ?? "");
      const value = `${open.repeat(levels)}"${mark}"${isClosed ? close.join("").repeat(levels) : ""}`;
      return inMessage ? `{"message":${value}}` : value;
    });

const numbers: fc.Arbitrary<string> = fc
  .oneof(
    fc.constantFrom("1e999", "-1e999", "1E+400", "-0", "0.1e-999", "01", "+1", ".5", "1.", "0x10", "1_000", "Infinity"),
    fc.integer({ min: 1, max: 20_000 }).map((digits) => "9".repeat(digits)),
    fc.integer({ min: 1, max: 20_000 }).map((digits) => `0.${"3".repeat(digits)}`),
  )
  .map((number) => `{"message":${number},"limit":${number}}`);

const prototypes = (mark: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    `{"__proto__":{"message":"${mark}"}}`,
    `{"message":"x","__proto__":{"polluted":"${mark}"}}`,
    `{"constructor":{"prototype":{"message":"${mark}"}}}`,
    `{"message":"x","toString":"${mark}","valueOf":1,"hasOwnProperty":null}`,
    `{"message":{"toString":"${mark}"}}`,
    `{"device_name":{"length":5,"trim":"${mark}"}}`,
    `{"toJSON":"${mark}","message":"x"}`,
  );

const manyKeys = (mark: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.integer({ min: 10, max: 10_000 }).map((count) => {
      const keys = Array.from({ length: count }, (_, index) => `"${mark}${index}":0`);
      return `{${keys.join(",")},"message":"x"}`;
    }),
    fc.integer({ min: 10, max: 5_000 }).map((count) => `{${`"message":"${mark}",`.repeat(count)}"message":"x"}`),
    fc.integer({ min: 1_000, max: 100_000 }).map((length) => `{"${mark.padEnd(length, "k")}":1}`),
  );

/** Around the limit of a body, on both sides of it. */
const long = (mark: string, maxBytes: number): fc.Arbitrary<string> =>
  fc
    .record({
      bytes: fc.oneof(
        fc.integer({ min: maxBytes - 3, max: maxBytes + 3 }),
        fc.integer({ min: 1_000, max: maxBytes }),
        fc.integer({ min: maxBytes, max: 2 * maxBytes }),
      ),
      fill: fc.constantFrom("x", " ", "\\n", "\\u0000", "\\ud800"),
    })
    .map(({ bytes, fill }) => {
      const start = `{"message":"${mark}`;
      const room = bytes - start.length - 2;
      return `${start}${fill.repeat(Math.floor(room / fill.length))}${"y".repeat(room % fill.length)}"}`;
    });
