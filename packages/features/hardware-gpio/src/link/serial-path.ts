/** Which paths may be opened as a serial port. Opening the wrong one may start a watchdog, block, or write to a disk. */
import { SvcError } from "@svc/contract";
import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";

/** Paths of boards that are found; any other has to be in the config. */
const ALLOWED =
  /^(?:\/dev\/(?:ttyACM|ttyUSB|tty\.usb|cu\.usb)[\w.-]*|\/dev\/serial\/by-id\/[^/]+|(?:\\\\\.\\)?COM\d{1,3})$/i;

export const isBoardPath = (path: string): boolean => ALLOWED.test(path);

/**
 * The terminal behind a path, symbolic links followed. Nothing is opened.
 * @throws SvcError BOARD_REFUSED, BOARD_LOST where there is nothing.
 */
export async function terminalAt(path: string, root = "/"): Promise<string> {
  if (process.platform === "win32") return path;
  const target = await realpath(path).catch(() => undefined);
  const found = target === undefined ? undefined : await stat(target).catch(() => undefined);
  if (target === undefined || !found) {
    throw new SvcError("BOARD_LOST", `There is nothing at ${path}.`, {
      hint: "Connect the board; svc hardware discover lists the connected boards.",
    });
  }
  const kind = found.isCharacterDevice() ? "another kind of device" : kindOf(found);
  if (found.isCharacterDevice() && (await isTerminal(found.rdev, root))) return target;
  throw new SvcError("BOARD_REFUSED", `${path} is ${kind}, not a serial port; it was not opened.`, {
    hint: "Give the path of a serial port, such as /dev/ttyACM0.",
  });
}

function kindOf(found: Stats): string {
  if (found.isFile()) return "a regular file";
  if (found.isFIFO()) return "a FIFO";
  if (found.isDirectory()) return "a folder";
  if (found.isBlockDevice()) return "a disk";
  return "a socket";
}

/** Pseudo-terminals (majors 136 to 143 of the kernel's devices.txt) are not in /sys; of the others it knows the class. */
async function isTerminal(device: number, root: string): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const [major, minor] = [(device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00)];
  if (major >= 136 && major <= 143) return true;
  const subsystem = await realpath(join(root, `sys/dev/char/${major}:${minor}/subsystem`)).catch(() => "");
  return subsystem.endsWith("/class/tty");
}
