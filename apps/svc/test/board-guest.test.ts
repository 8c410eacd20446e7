// The binary on a Raspberry Pi that a virtual machine simulates: a button starts its procedure once over kills of the daemon, the tools for
// pins and buses agree with the kernel and its programs, and a Pico in its boot loader is flashed.
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { missingGuest, runInGuest } from "@svc/testkit/real/guest";
import { requireReal } from "@svc/testkit/require-real";
import { dirname } from "node:path";
import { expect, test } from "vitest";

/** A Raspberry Pi 4 by its model and its GPIO controller; devices at two addresses of an I2C bus. */
const SCRIPT = `set -e
mount -t tmpfs firmware /sys/firmware
mkdir -p /sys/firmware/devicetree/base
printf 'Raspberry Pi 4 Model B Rev 1.4\\0' > /sys/firmware/devicetree/base/model
board=/sys/kernel/config/gpio-sim/board
mkdir -p $board/bank0
echo 58 > $board/bank0/num_lines
echo pinctrl-bcm2711 > $board/bank0/label
echo 1 > $board/live
insmod /run/drivers/99-i2c-stub.ko chip_addr=0x20,0x48
bus=$(basename "$(dirname "$(grep -l 'SMBus stub driver' /sys/class/i2c-dev/i2c-*/name)")")
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
cp ${fullestBinaryPath()} /run/svc
cd ${import.meta.dirname}
PATH=${dirname(process.execPath)}:/usr/sbin:/sbin:$PATH node board-guest.ts "$bus"
`;

test("a button, pins, a bus and a boot loader", async (context) => {
  const missing = missingGuest(["gpioget", "gpiomon", "i2cdetect", "socat"]);
  if (missing) requireReal(context, missing);
  const output = await runInGuest(SCRIPT);
  const steps = [...output.matchAll(/@@(.*)$/gm)].map(([, json]) => JSON.parse(json!) as [string, unknown]);
  expect(steps).toEqual([
    ["runs before a press", ""],
    ["runs after a press", "pressed"],
    ["runs after a kill", "pressed"],
    ["runs after the release", "pressed released"],
    ["runs after a press that a kill followed at once", "pressed pressed released"],
    ["write", ["GPIO 22 set HIGH on rpi0", "1"]],
    ["read", ["GPIO 5 is HIGH (1) on rpi0", "1"]],
    ["write", ["GPIO 22 set LOW on rpi0", "0"]],
    ["read", ["GPIO 5 is LOW (0) on rpi0", "0"]],
    ["blink", "GPIO 22 blinked 3 times on rpi0"],
    // Rising and falling, each three times.
    ["edges", "1 2 1 2 1 2"],
    ["system", "Raspberry Pi 4 Model B Rev 1.4"],
    ["scan", [["0x20", "0x48"], "20 48"]],
    ["flash", "firmware.uf2 was written; the board is back as pico0."],
    ["the drive has the image", true],
  ]);
});
