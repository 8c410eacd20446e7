// The kernel's own interface, on simulated lines: what the tools say of a pin is what the kernel and libgpiod's programs say of it, and a line
// that somebody else has is left alone.
import { missingGuest, runInGuest } from "@svc/testkit/real/guest";
import { requireReal } from "@svc/testkit/require-real";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const PACKAGE = join(import.meta.dirname, "..");

const SCRIPT = `set -e
board=/sys/kernel/config/gpio-sim/board
mkdir -p $board/bank0/line4/hog $board/bank0/line42 $board/bank0/line47
echo 58 > $board/bank0/num_lines
echo pinctrl-bcm2711 > $board/bank0/label
echo STATUS_LED_G_CLK > $board/bank0/line42/name
echo SD_DAT3 > $board/bank0/line47/name
echo w1 > $board/bank0/line4/hog/name
echo input > $board/bank0/line4/hog/direction
echo 1 > $board/live
cd ${PACKAGE}
PATH=${dirname(process.execPath)}:$PATH node test/guest.ts
`;

test("the tools agree with the kernel and with libgpiod", async (context) => {
  const missing = missingGuest(["gpioget", "gpiomon"]);
  if (missing) requireReal(context, missing);
  const output = await runInGuest(SCRIPT);
  const steps = [...output.matchAll(/@@(.*)$/gm)].map(([, json]) => JSON.parse(json!) as [string, unknown]);
  expect(steps).toEqual([
    ["profile", "# rpi0"],
    ["prompt", "This service runs on a Raspberry Pi 4 Model B Rev 1.4 (rpi0)"],
    ["write", "GPIO 17 set HIGH on rpi0"],
    ["the kernel's value of 17", "1"],
    ["svc holds 17", true],
    ["read back", "GPIO 17 is HIGH (1) on rpi0, an output"],
    ["write 0", "GPIO 17 set LOW on rpi0"],
    ["the kernel's value of 17", "0"],
    ["read with pull-up", ["GPIO 5 is HIGH (1) on rpi0", "1"]],
    ["read with pull-down", ["GPIO 5 is LOW (0) on rpi0", "0"]],
    ["pull as an argument", ["GPIO 6 is HIGH (1) on rpi0", "GPIO 6 is LOW (0) on rpi0"]],
    ["a line of another program", ["TOOL_FAILED", "GPIO 22 is used by gpioset."]],
    ["a line of the SD card", ["TOOL_BAD_INPUT", "GPIO 47 is not on the header. Pins are GPIO 0 to 27."]],
    ["the LED of the board", "GPIO 42 set HIGH on rpi0"],
    ["a line of the kernel", ["TOOL_FAILED", "GPIO 4 is used by w1."]],
    ["blink", ["GPIO 27 blinked 3 times on rpi0", "0101010"]],
    [
      "watched",
      [
        [0, 1, 0, 1, 0],
        ["1", "2", "1", "2"],
      ],
    ],
    ["chatter", 5],
    ["read a watched pin", ["GPIO 12 is LOW (0) on rpi0", ["TOOL_FAILED", "GPIO 12 is watched for procedures."]]],
    ["not watched any more", "GPIO 12 set LOW on rpi0"],
    ["17 is free after the shutdown", true],
  ]);
});
