// What is no serial port is never opened: opening a FIFO waits, a disk is written to, a watchdog is started.
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBoardPath, terminalAt } from "../src/link/link.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-path-"));
  await writeFile(join(folder, "file"), "");
  execFileSync("mkfifo", [join(folder, "fifo")]);
  await symlink(join(folder, "file"), join(folder, "link"));
  await symlink("/dev/null", join(folder, "null"));
  await symlink(join(folder, "nowhere"), join(folder, "dangling"));
});
afterAll(() => rm(folder, { recursive: true }));

describe.skipIf(process.platform !== "linux")("a path", { meta: { skipReason: "is of Linux" } }, () => {
  test.each([
    ["file", "is a regular file"],
    ["fifo", "is a FIFO"],
    ["link", "is a regular file"],
    ["null", "is another kind of device"],
    [".", "is a folder"],
  ])("%s is refused", async (name, message) => {
    const refused = terminalAt(join(folder, name));
    await expect(refused).rejects.toMatchObject({ code: "BOARD_REFUSED" });
    await expect(refused).rejects.toThrow(message);
  });

  test.each(["dangling", "missing"])("%s is nothing", async (name) => {
    await expect(terminalAt(join(folder, name))).rejects.toMatchObject({ code: "BOARD_LOST" });
  });

  test("the console is a terminal by its class in /sys", async () => {
    expect(await terminalAt("/dev/tty")).toBe("/dev/tty");
  });
});

test.each([
  ["/dev/ttyACM0", true],
  ["/dev/ttyUSB12", true],
  ["/dev/serial/by-id/usb-Arduino-if00", true],
  ["/dev/tty.usbmodem1101", true],
  ["/dev/cu.usbserial-10", true],
  ["COM3", true],
  ["/dev/sda", false],
  ["/dev/ttyS0", false],
  ["/dev/serial/by-id/../../sda", false],
  ["/dev/ttyACM0/../sda", false],
  ["/tmp/ttyACM0", false],
  ["/dev/watchdog", false],
])("%s is a board's path: %s", (path, is) => {
  expect(isBoardPath(path)).toBe(is);
});
