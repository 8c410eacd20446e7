// The code that svc sends to a Pico, run by MicroPython 1.27: pins, the analog converter and files. Only the module `machine` is simulated.
import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import type { EmulatedBoard } from "@svc/testkit/real/emulated-board";
import { startMicroPython } from "@svc/testkit/real/micropython";
import { missingSocat } from "@svc/testkit/real/serial-port";
import { requireReal } from "@svc/testkit/require-real";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readFileFrom, writeFileTo } from "../src/tools.ts";
import type { BoardRegistry } from "../src/registry.ts";
import { realClock } from "./real-clock.ts";
import { registryOf } from "./registry.ts";

const missing = missingSocat();
const signal = new AbortController().signal;
let board: EmulatedBoard;
let registry: BoardRegistry;
const open = (): Promise<BoardRegistry> =>
  registryOf({ boards: [{ board: "raspberry-pi-pico", path: board.path }], clock: realClock });

beforeEach((context) => {
  if (missing) requireReal(context, missing);
});
beforeAll(async () => {
  if (missing) return;
  board = await startMicroPython();
  registry = await open();
});
afterAll(async () => {
  await registry?.close();
  await board?.unplug();
});

test("it tells what it is", async () => {
  expect(await registry.describe("pico0", signal)).toMatchObject({
    protocol: "micropython",
    about: { implementation: "micropython", version: "1.27.0", raw_paste_mode: false },
  });
});

test("an analog input is read in the scale of its converter; a pin without one is refused", async () => {
  expect(await registry.readAnalog("pico0", 26, signal)).toBe(26_000);
  expect(await registry.readAnalog("pico0", 29, signal)).toBe(29_000);
  await expect(registry.readAnalog("pico0", 3, signal)).rejects.toMatchObject({
    code: "TOOL_BAD_INPUT",
    message: "pico0 has no pin 3 for this (ValueError: Pin doesn't have ADC capabilities).",
  });
});

test("an output keeps its level while it is read, an input reads its resistor", async () => {
  await registry.writePin("pico0", 25, 1, signal);
  expect(await registry.readPin("pico0", 25, { signal })).toBe(1);
  await registry.writePin("pico0", 25, 0, signal);
  expect(await registry.readPin("pico0", 25, { signal })).toBe(0);
  expect(await registry.readPin("pico0", 5, { signal, pull: "up" })).toBe(1);
  expect(await registry.readPin("pico0", 5, { signal, pull: "down" })).toBe(0);
  await expect(registry.writePin("pico0", 99, 1, signal)).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
});

test("a file is what was written, and is put in place as a whole", async () => {
  const first = Buffer.from(`# \\ " äöü \u{1f600} \x04\x01\n${"x = 1\n".repeat(60)}`);
  for (const content of [first, Buffer.from("x = 2\n")]) {
    const options = { file: "main.py", what: "pico0", content };
    const written = await registry.command("pico0", signal, (dialect, limited) =>
      writeFileTo(dialect.code!, { ...options, signal: limited }),
    );
    expect(written).toEqual({ bytes: content.length, isReplaced: true });
    const read = await registry.command("pico0", signal, (dialect, limited) =>
      readFileFrom(dialect.code!, { ...options, signal: limited }),
    );
    expect(read.content.equals(content)).toBe(true);
  }
});

test("mpremote reads the same of the converter", async (context) => {
  if (spawnSync("mpremote", ["version"]).error)
    requireReal(context, { name: "mpremote", tier: "B", reason: "not on PATH; apt-get install micropython-mpremote" });
  await registry.close();
  const code = "from machine import ADC, Pin; print(ADC(Pin(27)).read_u16())";
  // The line to the board leads through this process.
  const { stdout } = await promisify(execFile)("mpremote", ["connect", board.path, "resume", "exec", code]);
  registry = await open();
  expect(Number(stdout)).toBe(await registry.readAnalog("pico0", 27, signal));
});
