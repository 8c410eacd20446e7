// Boards are known by their USB ids, and an alias says what kind of board it is.
import { expect, test } from "vitest";
import { aliasPrefixOf, boardOfUsb } from "../../src/hardware/index.ts";

test.each([
  [0x0483, 0x374b, "nucleo-f401re", "nucleo"],
  [0x0483, 0x3748, "nucleo-f411re", "nucleo"],
  [0x2341, 0x0043, "arduino-uno", "arduino"],
  [0x2341, 0x0078, "arduino-uno-q", "arduino"],
  [0x2e8a, 0x0003, "raspberry-pi-pico", "pico"],
  [0x2e8a, 0x0005, "raspberry-pi-pico", "pico"],
  [0x1a86, 0x7523, "esp32", "esp"],
  [0x2b76, 0x0001, "aardvark", "aardvark"],
  [0x0403, 0xe0d0, "aardvark", "aardvark"],
  [0x0d28, 0x0204, "microbit", "microbit"],
])("%i:%i is %s, with the prefix %s", (vendorId, productId, name, prefix) => {
  expect(boardOfUsb(vendorId, productId)?.name).toBe(name);
  expect(aliasPrefixOf(name)).toBe(prefix);
});

test.each([
  [0x0403, 0x6001],
  [0x0483, 0x5740],
  [0, 0],
  [0x2341, 0x9999],
])("%i:%i is not known", (vendorId, productId) => {
  expect(boardOfUsb(vendorId, productId)).toBeUndefined();
});

test("a board with a name of its own is a device", () => {
  expect(aliasPrefixOf("my own board")).toBe("device");
});
