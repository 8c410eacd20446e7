// A serial line without flow control loses bytes of the code that writes a file: it must be sent again, and not for ever.
import { expect, test } from "vitest";
import { writeFileTo } from "../src/board-files.ts";
import type { CodeRunner } from "../src/dialect/dialect.ts";

const signal = new AbortController().signal;
const LOST = 'Traceback (most recent call last):\r\n  File "<stdin>", line 1\r\nSyntaxError: invalid syntax\r\n';

/** A board without `os.rename`. `isLost`: of the code with this number, from 1. */
function boardThat(isLost: (number: number) => boolean) {
  const kept: number[] = [];
  let runs = 0;
  const answerTo = (code: string): string => {
    if (code.includes("hasattr")) return "False";
    const [, literal] = /write\(b'(.*)'\)$/s.exec(code) ?? [];
    if (literal !== undefined) {
      for (const [, hex, plain] of literal.matchAll(/\\x(..)|(.)/gs)) {
        kept.push(hex === undefined ? plain!.codePointAt(0)! : Number.parseInt(hex, 16));
      }
    }
    if (!code.includes("s * 31")) return "";
    return `${kept.length} ${kept.reduce((sum, byte) => (sum * 31 + byte) & 0xffffff, 0)}`;
  };
  const runner: CodeRunner = {
    async run(code) {
      runs += 1;
      const error = isLost(runs) ? LOST : "";
      return { output: Buffer.from(error === "" ? answerTo(code) : ""), isCut: false, error };
    },
  };
  return { runner, kept, runs: () => runs };
}

test("code that lost bytes on its way is sent again", async () => {
  const { runner, kept } = boardThat((number) => number % 3 !== 0);
  const content = Buffer.from(`print('it''s')\n\x00\x04\xff ${"x".repeat(300)}`, "latin1");
  const written = await writeFileTo(runner, { file: "a.py", what: "board0", signal, content });
  expect(written).toEqual({ bytes: content.length, isReplaced: false });
  expect(Buffer.from(kept).equals(content)).toBe(true);
});

test("a line that loses everything is an error, after three attempts", async () => {
  const { runner, runs } = boardThat(() => true);
  const writing = writeFileTo(runner, { file: "a.py", what: "board0", signal, content: Buffer.from("x") });
  await expect(writing).rejects.toThrow("board0 could not do this: SyntaxError: invalid syntax");
  expect(runs()).toBe(3);
});
