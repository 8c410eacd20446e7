// A serial line without flow control loses bytes of code: none of it may run in part, and all of it is sent again, slower, three times at most.
import { fakeClock } from "@svc/testkit/fake-clock";
import { expect, test } from "vitest";
import { writeFileTo } from "../src/tools.ts";
import { type CodeRunner } from "../src/dialect/dialect.ts";
import { greetMicroPython } from "../src/dialect/micropython.ts";
import { Incoming, type Link } from "../src/link/link.ts";

const signal = new AbortController().signal;

/** The raw REPL of firmware without raw paste mode. It runs what is between the lines of the check; `loses` bytes of each code, by number. */
async function lossyBoard(loses: (code: string, number: number) => string, endsLost = 0) {
  let ends = endsLost;
  const incoming = new Incoming();
  const ran: string[] = [];
  const kept: number[] = [];
  let line = "";
  let sends = 0;
  const say = (text: string): void => incoming.push(Buffer.from(text, "latin1"));
  const fail = (error: string): void => say(`OK\x04Traceback (most recent call last):\r\n${error}\r\n\x04>`);
  const bytesOf = (literal: string): Buffer =>
    Buffer.from(
      literal.replaceAll(/\\x(..)/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      "latin1",
    );
  const sumOf = (bytes: Iterable<number>): number => [...bytes].reduce((sum, byte) => (sum * 31 + byte) & 0xffffff, 0);

  function execute(sent: string): void {
    const greeting = /^print\('([0-9a-f]{16})'\)$/.exec(sent);
    if (greeting) return say(`OK${greeting[1]}\r\n\x04\x04>`);
    sends += 1;
    const got = loses(sent, sends);
    const [, text, sum] =
      /^_svc_code=b'([^']*)'\n_svc_sum=0\n[\s\S]*_svc_sum!=(\d+):raise [\s\S]*\nexec\(_svc_code\)$/.exec(got) ?? [];
    if (text === undefined) return fail("IndentationError: unindent does not match any outer indentation level");
    const code = bytesOf(text);
    if (sumOf(code) !== Number(sum)) return fail("ValueError: lost bytes");
    ran.push(code.toString("utf8"));
    say(`OKsvc ${sum}\r\n${answerTo(code.toString("latin1"))}\x04\x04>`);
  }
  function answerTo(code: string): string {
    if (code.includes("hasattr")) return "False\r\n";
    const [, piece] = /^_svc_file\.write\(b'(.*)'\)$/s.exec(code) ?? [];
    if (piece !== undefined) kept.push(...bytesOf(piece));
    return code.includes("s * 31") ? `${kept.length} ${sumOf(kept)}\r\n` : "";
  }
  const link: Link = {
    incoming,
    async write(bytes) {
      for (const byte of Buffer.from(bytes as Uint8Array).toString("latin1")) {
        if (byte === "\x01") say(line === "\x05A" ? "ra" : "");
        if (byte === "\x01") say("raw REPL; CTRL-B to exit\r\n>");
        else if (byte === "\x04" && endsLost > 0 && line.startsWith("_svc")) endsLost -= 1;
        else if (byte === "\x04") execute(line);
        const isKept = byte === "\x04" && endsLost !== ends;
        ends = endsLost;
        if (!isKept) line = "\x01\x03\x04\r".includes(byte) ? "" : line + byte;
      }
    },
    async close() {},
  };
  const clock = fakeClock();
  const dialect = await greetMicroPython(link, { what: "board0", clock: { ...clock, sleep: async () => {} } }, signal);
  return { clock, runner: dialect!.code as CodeRunner, ran, kept, sends: () => sends };
}

const run = (runner: CodeRunner, code: string) => runner.run(code, { timeoutMs: 5000, maxBytes: 100, signal });
const without = (code: string, at: number): string => code.slice(0, at) + code.slice(at + 1);

test("code runs once it is whole, however often a byte of it was lost", async () => {
  const code = "for i in range(3):\n    print('ünï', i)";
  for (let at = 0; at < 60; at += 1) {
    const board = await lossyBoard((text, number) => (number < 3 ? without(text, at) : text));
    expect(await run(board.runner, code)).toEqual({ output: Buffer.alloc(0), isCut: false, error: "" });
    expect(board.ran).toEqual([code]);
    expect(board.sends()).toBe(3);
  }
});

test("code that never comes whole does not run", async () => {
  const board = await lossyBoard((text) => without(text, 20));
  await expect(run(board.runner, "print('all of it')")).rejects.toMatchObject({ code: "BOARD_FAILED" });
  expect(board.ran).toEqual([]);
  expect(board.sends()).toBe(3);
});

test("code whose end was lost is forgotten by the board, and sent again", async () => {
  const board = await lossyBoard((text) => text, 2);
  const running = run(board.runner, "print('all of it')");
  await board.clock.advance(3000);
  await board.clock.advance(3000);
  expect(await running).toMatchObject({ error: "" });
  expect(board.ran).toEqual(["print('all of it')"]);
});

test("a file is written whole over a line that loses bytes", async () => {
  const board = await lossyBoard((text, number) => (number % 3 === 0 ? text : without(text, number)));
  const content = Buffer.from(`print('it''s')\n\x00\x04\xff ${"x".repeat(300)}`, "latin1");
  const written = await writeFileTo(board.runner, { file: "a.py", what: "board0", signal, content });
  expect(written).toEqual({ bytes: content.length, isReplaced: false });
  expect(Buffer.from(board.kept).equals(content)).toBe(true);
});
