// One U+2028 in what somebody had written, in a message or in a question, and every command that showed it said that the daemon
// was gone.
import { Readable } from "node:stream";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { linesOf } from "../src/control/client.ts";

async function linesIn(stream: Readable): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(stream)) lines.push(line);
  return lines;
}

const parted = fc
  .tuple(fc.array(fc.jsonValue()), fc.array(fc.nat(), { maxLength: 20 }))
  .map(([values, cuts]) => ({ values, cuts }));

test("whatever is in them, and however they come in pieces, lines are those that were written", async () => {
  const strange = ["a\u2028b\u2029c\u0085d\r\ne\v\f", "\u{1F600}"];
  await fc.assert(
    fc.asyncProperty(parted, async ({ values, cuts }) => {
      const lines = [...values, ...strange].map((value) => JSON.stringify(value));
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const at = [0, ...cuts.map((cut) => cut % bytes.length).toSorted((one, other) => one - other), bytes.length];
      const pieces = at.slice(1).map((end, index) => bytes.subarray(at[index]!, end));
      const stream = Readable.from(
        pieces.filter(({ length }) => length > 0),
        { objectMode: false },
      );
      expect(await linesIn(stream)).toEqual(lines);
    }),
  );
});

test("half a line at the end is told, and nothing of nothing", async () => {
  const of = (text: string) => linesIn(Readable.from([Buffer.from(text)], { objectMode: false }));
  expect([await of("{}\n{"), await of("{}\n"), await of("")]).toEqual([["{}", "{"], ["{}"], []]);
});
