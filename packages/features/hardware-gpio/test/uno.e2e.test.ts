// An Arduino Uno, emulated, with firmware in C: Firmata and JSON lines over a serial port, each found by asking.
import { missingUno, startUno } from "@svc/testkit/real/emulated-board";
import { requireReal } from "@svc/testkit/require-real";
import { beforeEach, describe, expect, test } from "vitest";
import { realClock } from "./real-clock.ts";
import { registryOf } from "./registry.ts";

const missing = missingUno();
const signal = new AbortController().signal;
beforeEach((context) => {
  if (missing) requireReal(context, missing);
});

// The same rate for both, as the emulated port takes a second to be opened again.
const uno = (path: string) => ({ boards: [{ board: "arduino-uno", path, baud: 115_200 }], clock: realClock });

describe("Firmata", () => {
  test("pins are written, confirmed and read back, and those that it does not have are refused", async () => {
    await using board = await startUno("uno-firmata");
    await using registry = await registryOf(uno(board.path));
    const { protocol, about } = await registry.describe("arduino0", signal);
    expect(protocol).toBe("firmata");
    const usable = Array.from({ length: 18 }, (_, index) => index + 2);
    expect(about).toEqual({
      firmware: "TestFirmata.ino",
      version: "2.5",
      pins: { input: usable, output: usable, pull_up: usable },
    });
    await registry.writePin("arduino0", 13, 1, signal);
    expect(await registry.readPin("arduino0", 13, { signal })).toBe(1);
    await registry.writePin("arduino0", 13, 0, signal);
    expect(await registry.readPin("arduino0", 13, { signal })).toBe(0);
    expect(await registry.readPin("arduino0", 7, { pull: "up", signal })).toBe(1);
    expect(await registry.readPin("arduino0", 7, { signal })).toBe(1);
    expect(await registry.readPin("arduino0", 7, { pull: "none", signal })).toBe(0);
    for (const pin of [1, 20, 99, 200]) {
      await expect(registry.writePin("arduino0", pin, 1, signal)).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
    }
    await expect(registry.readPin("arduino0", 7, { pull: "down", signal })).rejects.toThrow("no pull-down resistors");
    expect(await registry.readPin("arduino0", 13, { signal })).toBe(0);
  });
});

describe("JSON lines", () => {
  test("the firmware is found after Firmata was asked for, and its pins are used", async () => {
    await using board = await startUno("uno-json");
    await using registry = await registryOf(uno(board.path));
    expect(await registry.describe("arduino0", signal)).toEqual({
      protocol: "json",
      about: { form: "with ids", capabilities: { board: "arduino-uno", gpio: [2, 19] } },
    });
    await registry.writePin("arduino0", 13, 1, signal);
    expect(await registry.readPin("arduino0", 13, { signal })).toBe(1);
    await expect(registry.writePin("arduino0", 0, 1, signal)).rejects.toThrow("pin not available");
  });

  test("unplugged, it is gone for the next command too", async () => {
    await using board = await startUno("uno-json");
    await using registry = await registryOf(uno(board.path));
    await registry.writePin("arduino0", 13, 1, signal);
    await board.unplug();
    await expect(registry.writePin("arduino0", 13, 0, signal)).rejects.toMatchObject({ code: "BOARD_LOST" });
  });
});
