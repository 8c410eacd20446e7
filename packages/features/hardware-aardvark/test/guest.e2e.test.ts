// The kernel's own interface: a scan finds exactly the addresses of its stub, and registers are what the programs of i2c-tools read and write.
import { missingGuest, runInGuest } from "@svc/testkit/real/guest";
import { requireReal } from "@svc/testkit/require-real";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const PACKAGE = join(import.meta.dirname, "..");

const SCRIPT = `set -e
insmod /run/drivers/99-i2c-stub.ko chip_addr=0x20,0x48,0x51
bus=$(basename "$(dirname "$(grep -l 'SMBus stub driver' /sys/class/i2c-dev/i2c-*/name)")")
cd ${PACKAGE}
PATH=${dirname(process.execPath)}:$PATH node test/guest.ts "\${bus#i2c-}"
`;

test("the tools agree with the kernel and with i2c-tools", async (context) => {
  const missing = missingGuest(["i2cdetect"]);
  if (missing) requireReal(context, missing);
  const output = await runInGuest(SCRIPT);
  const steps = [...output.matchAll(/@@(.*)$/gm)].map(([, json]) => JSON.parse(json!) as [string, unknown]);
  const device = expect.stringMatching(/^i2c-\d+$/);
  const counted = Array.from({ length: 32 }, (_one, at) => at + 1);
  expect(steps).toEqual([
    ["tools", ["i2c_scan", "i2c_read", "i2c_write"]],
    ["scan", [{ device, addresses: ["0x20", "0x48", "0x51"] }, ["20", "48", "51"]]],
    ["write a register", expect.stringMatching(/^1 byte written to 0x48 register 0x10 on i2c-\d+$/)],
    ["i2cget of it", "0xab"],
    ["what i2cset wrote", { device, address: "0x20", register: "0x05", bytes: [0x77] }],
    ["write a block", expect.stringMatching(/^32 bytes written to 0x48 register 0x20/)],
    ["i2cget of its end", "0x20"],
    ["read of a block and more", [...counted, 0, 0, 0, 0, 0, 0, 0, 0]],
    ["too long a block", ["TOOL_FAILED", expect.stringContaining("at most 32 bytes")]],
    ["nobody there", ["TOOL_FAILED", expect.stringContaining("nothing answers at this address")]],
  ]);
});
