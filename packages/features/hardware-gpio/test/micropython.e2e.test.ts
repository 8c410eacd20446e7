// The MicroPython of a real micro:bit, emulated: its pins, its code and its files, compared with mpremote; code that never ends; a board
// that is unplugged; and two programs on one port.
import { execFileSync, spawnSync } from "node:child_process";
import { SvcError } from "@svc/contract";
import { type EmulatedBoard, missingMicrobit, startMicrobit } from "@svc/testkit/real/emulated-board";
import { requireReal } from "@svc/testkit/require-real";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readFileFrom, writeFileTo } from "../src/tools.ts";
import { openSerial } from "../src/link/serial-link.ts";
import type { BoardRegistry } from "../src/registry.ts";
import { realClock } from "./real-clock.ts";
import { registryOf } from "./registry.ts";

const missing = missingMicrobit();
const signal = new AbortController().signal;
let board: EmulatedBoard;
let registry: BoardRegistry;

beforeEach((context) => {
  if (missing) requireReal(context, missing);
});
beforeAll(async () => {
  if (missing) return;
  board = await startMicrobit();
  registry = await registryOf({ boards: [{ board: "microbit", path: board.path }], clock: realClock });
});
afterAll(async () => {
  await registry?.close();
  await board?.unplug();
});

const run = (code: string, timeoutMs = 5000, maxBytes = 24_576) =>
  registry.command("microbit0", signal, async (dialect, limited) => {
    const { output, isCut, error } = await dialect.code!.run(code, { timeoutMs, maxBytes, signal: limited });
    return { output: output.toString("utf8"), isCut, error };
  });

test("it tells what it is", async () => {
  expect(await registry.describe("microbit0", signal)).toEqual({
    protocol: "micropython",
    about: {
      implementation: "micropython",
      version: "1.9.2",
      machine: "micro:bit with nRF51822",
      raw_paste_mode: false,
    },
  });
});

test("pins are read and written, and one that it does not have is refused by the board", async () => {
  await registry.writePin("microbit0", 0, 1, signal);
  expect(await registry.readPin("microbit0", 0, { signal })).toBe(0);
  await expect(registry.writePin("microbit0", 99, 1, signal)).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
});

test("an analog pin is read, and one that is digital alone is refused by the board", async () => {
  // The emulated converter always tells 0.
  expect(await registry.readAnalog("microbit0", 0, signal)).toBe(0);
  await expect(registry.readAnalog("microbit0", 5, signal)).rejects.toMatchObject({
    code: "TOOL_BAD_INPUT",
    message: expect.stringContaining("no attribute 'read_analog'") as unknown,
  });
});

test("code prints, fails with its traceback, and is cut where it prints too much", async () => {
  expect(await run("print(6 * 7)")).toEqual({ output: "42\r\n", isCut: false, error: "" });
  expect((await run("1/0")).error).toContain("ZeroDivisionError");
  expect((await run("if True print(1)")).error).toContain("SyntaxError");
  const cut = await run("for i in range(2000): print('x' * 20)", 30_000, 100);
  expect(cut).toMatchObject({ isCut: true, error: "" });
  expect(cut.output).toHaveLength(100);
  expect(await run("print('still there')")).toEqual({ output: "still there\r\n", isCut: false, error: "" });
});

test("code that never ends is interrupted, and the board takes the next", async () => {
  await expect(run("while True: pass", 500)).rejects.toMatchObject({ code: "BOARD_TIMEOUT" });
  expect((await run("print(1)")).output).toBe("1\r\n");
});

test("a call that is called off interrupts its code", async () => {
  const calledOff = new AbortController();
  const running = registry.command("microbit0", calledOff.signal, (dialect, limited) => {
    setImmediate(() => calledOff.abort(new SvcError("TURN_CANCELLED")));
    return dialect.code!.run("while True: pass", { timeoutMs: 60_000, maxBytes: 100, signal: limited });
  });
  await expect(running).rejects.toMatchObject({ code: "TURN_CANCELLED" });
  expect((await run("print(2)")).output).toBe("2\r\n");
});

test("a file is what was written, whatever is in it", async () => {
  const content = Buffer.from(`print('it''s')\n# \\ " äöü \u{1f600} \x04\x01\x03\n${"x = 1\n".repeat(60)}`);
  const written = await registry.command("microbit0", signal, (dialect, limited) =>
    writeFileTo(dialect.code!, { file: "a.py", what: "microbit0", signal: limited, content }),
  );
  expect(written).toEqual({ bytes: content.length, isReplaced: false });
  const read = await registry.command("microbit0", signal, (dialect, limited) =>
    readFileFrom(dialect.code!, { file: "a.py", what: "microbit0", signal: limited }),
  );
  expect(read.isCut).toBe(false);
  expect(read.content.equals(content)).toBe(true);
  const absent = registry.command("microbit0", signal, (dialect, limited) =>
    readFileFrom(dialect.code!, { file: "none.py", what: "microbit0", signal: limited }),
  );
  await expect(absent).rejects.toThrow("There is no file none.py on microbit0.");
});

test("another program can't have the port meanwhile, and finds the board afterwards as svc left it", async () => {
  await run("x = 7");
  await expect(openSerial({ what: "microbit0", path: board.path, baud: 115_200 })).rejects.toMatchObject({
    code: "BOARD_BUSY",
  });
  await registry.close();
  const link = await openSerial({ what: "microbit0", path: board.path, baud: 115_200 });
  await link.close();
  registry = await registryOf({ boards: [{ board: "microbit", path: board.path }], clock: realClock });
});

const hasMpremote = spawnSync("mpremote", ["version"]).error === undefined;

/** It has no checksum: on a line without flow control it may lose bytes of the code, and fail. */
function askMpremote(code: string): string {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return execFileSync("mpremote", ["connect", board.path, "resume", "exec", code], { encoding: "latin1" });
    } catch (error) {
      if (attempts === 5) throw error;
    }
  }
}

test("mpremote and svc are told the same, in turn", async (context) => {
  if (!hasMpremote)
    requireReal(context, { name: "mpremote", tier: "B", reason: "not on PATH; apt-get install micropython-mpremote" });
  const code = "import os; print(os.uname(), 2 ** 20)";
  const ours = (await run(code)).output;
  await registry.close();
  const theirs = askMpremote(code);
  registry = await registryOf({ boards: [{ board: "microbit", path: board.path }], clock: realClock });
  expect(theirs).toBe(ours);
  expect((await run(code)).output).toBe(ours);
});

test("unplugged in the middle of a command is BOARD_LOST, and the port is nothing afterwards", async () => {
  const running = run("while True: pass", 60_000);
  await Promise.all([
    expect(running).rejects.toMatchObject({ code: "BOARD_LOST" }),
    new Promise((resolve) => setTimeout(resolve, 300)).then(() => board.unplug()),
  ]);
  await registry.scan();
  expect(registry.list()).toMatchObject([{ alias: "microbit0", isConnected: false }]);
  await expect(run("print(1)")).rejects.toMatchObject({ code: "BOARD_LOST" });
});
