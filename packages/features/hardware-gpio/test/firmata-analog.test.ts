// Analog inputs in Firmata: the pin's channel is asked for, its report is switched on and off, and what has none is refused.
import { expect, test } from "vitest";
import { greetFirmata } from "../src/dialect/firmata.ts";
import { Incoming, type Link } from "../src/link/link.ts";

const signal = new AbortController().signal;

/** Pins 0 and 1 are digital, 2 is channel 0 and 3 channel 5; 4 has a converter and no channel. */
function analogBoard(): Link & { readonly written: string[] } {
  const incoming = new Incoming();
  const written: string[] = [];
  const answers: Readonly<Record<string, readonly number[]>> = {
    f079f7: [0xf0, 0x79, 2, 5, 0x54, 0, 0xf7],
    f06bf7: [0xf0, 0x6c, 0, 1, 0x7f, 0, 1, 0x7f, 0, 1, 2, 10, 0x7f, 2, 10, 0x7f, 2, 10, 0x7f, 0xf7],
    f069f7: [0xf0, 0x6a, 127, 127, 0, 5, 127, 0xf7],
    // Another channel reports first.
    f40302c501: [0xe0, 1, 1, 0xe5, 0x0b, 0x04],
  };
  return {
    incoming,
    written,
    async write(bytes) {
      const hex = Buffer.from(bytes as Uint8Array).toString("hex");
      written.push(hex);
      incoming.push(Uint8Array.from(answers[hex] ?? []));
    },
    async close() {},
  };
}

test("the number of an analog pin is that of its channel, whose report ends", async () => {
  const board = analogBoard();
  const dialect = await greetFirmata(board, "arduino0", signal);
  expect(await dialect!.readAnalog(3, signal)).toBe(0x0b + (0x04 << 7));
  expect(board.written.slice(-2)).toEqual(["f40302c501", "c500"]);
  expect(dialect!.isSettled).toBe(true);
});

test.each([
  [0, "Pins that can: 2, 3, 4."],
  [4, "no analog input of its firmware"],
])("pin %i is refused", async (pin, message) => {
  const dialect = await greetFirmata(analogBoard(), "arduino0", signal);
  const refused = dialect!.readAnalog(pin, signal);
  await expect(refused).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
  await expect(refused).rejects.toThrow(message);
});
