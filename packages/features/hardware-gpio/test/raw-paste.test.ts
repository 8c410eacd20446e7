// Raw paste mode, as the reference of MicroPython describes it: never more than the room that the board offers, and an end at once where
// the board takes no more.
import { fakeClock } from "@svc/testkit/fake-clock";
import { expect, test } from "vitest";
import { greetMicroPython } from "../src/dialect/micropython.ts";
import { Incoming, type Link } from "../src/link/link.ts";

const WINDOW = 16;

interface PasteBoard extends Link {
  /** Code that was run. */
  readonly ran: string[];
  /** The most that came before more room was offered. */
  mostAtOnce: number;
  /** Ends the next code after so many bytes, as a syntax error does. */
  refuseAfter: number;
  /** Module that its firmware does not have. */
  lacks: string | undefined;
}

/** A raw REPL with a window of 16 bytes; each piece of room is offered only after all of the last one came. */
function pasteBoard(): PasteBoard {
  const incoming = new Incoming();
  let mode: "friendly" | "raw" | "paste" | "refused" = "friendly";
  let line = "";
  let room = 0;
  const say = (text: string): void => incoming.push(Buffer.from(text, "latin1"));
  const run = (code: string): void => {
    board.ran.push(code);
    if (board.lacks !== undefined && code.includes(`import ${board.lacks}`))
      return say(`\x04Traceback (most recent call last):\r\nImportError: no module named '${board.lacks}'\r\n\x04>`);
    say(`${/^print\('(.*)'\)$/.exec(code)?.[1] ?? "done"}\r\n\x04\x04>`);
  };
  const board: PasteBoard = {
    incoming,
    ran: [],
    mostAtOnce: 0,
    refuseAfter: Number.POSITIVE_INFINITY,
    lacks: undefined,
    async write(bytes) {
      const text = Buffer.from(bytes as Uint8Array).toString("latin1");
      if (mode === "paste" && text !== "\x04") board.mostAtOnce = Math.max(board.mostAtOnce, text.length);
      for (const byte of text) take(byte);
    },
    async close() {},
  };

  function take(byte: string): void {
    if (mode === "paste") return paste(byte);
    if (mode === "refused") {
      if (byte !== "\x04") throw new Error("it went on after the board had ended the code");
      say("\x04SyntaxError: invalid syntax\r\n\x04>");
      mode = "raw";
      return;
    }
    if (byte === "\x01" && line === "\x05A") {
      mode = "paste";
      line = "";
      room = WINDOW;
      say(`R\x01${String.fromCharCode(WINDOW)}\x00`);
    } else if (byte === "\x01") {
      mode = "raw";
      line = "";
      say("raw REPL; CTRL-B to exit\r\n>");
    } else if (byte === "\x03" || byte === "\r") line = "";
    else if (byte === "\x04" && mode === "raw") {
      say("OK");
      run(line);
      line = "";
    } else line += byte;
  }

  function paste(byte: string): void {
    if (byte === "\x04") {
      say("\x04");
      mode = "raw";
      run(line);
      line = "";
      return;
    }
    if (room === 0) throw new Error("more came than there was room for");
    room -= 1;
    line += byte;
    if (line.length >= board.refuseAfter) {
      mode = "refused";
      line = "";
      say("\x04");
    } else if (room === 0) {
      room = WINDOW;
      say("\x01");
    }
  }
  return board;
}

const signal = new AbortController().signal;
const options = { timeoutMs: 1000, maxBytes: 1000, signal };

async function dialectOn(board: PasteBoard) {
  const dialect = await greetMicroPython(board, { what: "pico0", clock: fakeClock() }, signal);
  board.ran.length = 0;
  return dialect!;
}

test.each([0, 1, 15, 16, 17, 32, 500])(
  "code of %i more bytes arrives whole, and never more of it than there is room for",
  async (length) => {
    const board = pasteBoard();
    const dialect = await dialectOn(board);
    const code = `#${"x".repeat(length)}`;
    const { output, error } = await dialect.code!.run(code, options);
    expect(board.ran).toEqual([code]);
    expect(board.mostAtOnce).toBeLessThanOrEqual(WINDOW);
    expect([output.toString(), error, dialect.isSettled]).toEqual(["done\r\n", "", true]);
  },
);

test("a board that takes no more is told the end at once, and says why", async () => {
  const board = pasteBoard();
  const dialect = await dialectOn(board);
  board.refuseAfter = WINDOW;
  const { error } = await dialect.code!.run("(".repeat(200), options);
  expect(error).toContain("SyntaxError");
  expect(dialect.isSettled).toBe(true);
  board.refuseAfter = Number.POSITIVE_INFINITY;
  expect((await dialect.code!.run("print('on')", options)).output.toString()).toBe("on\r\n");
});

test("CircuitPython is known by the module that it lacks, once, and its pins are used by its own modules", async () => {
  const board = pasteBoard();
  const dialect = await dialectOn(board);
  board.lacks = "microbit";
  await dialect.writePin(25, 1, signal);
  await dialect.writePin(25, 0, signal);
  const kinds = board.ran.map((code) => (code.includes("digitalio") ? "digitalio" : "machine"));
  expect(kinds).toEqual(["machine", "digitalio", "digitalio"]);
  board.lacks = "digitalio";
  await expect(dialect.writePin(25, 0, signal)).rejects.toThrow("could not do this: ImportError: no module named");
});
