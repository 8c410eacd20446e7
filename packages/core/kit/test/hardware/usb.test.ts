// USB devices and their serial ports are found in /sys, whatever is missing, half there or hostile in it.
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { scanUsb } from "../../src/hardware/index.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-usb-"));
});
afterEach(() => rm(root, { recursive: true }));

interface Given {
  readonly files: Readonly<Record<string, string>>;
  /** Below the interface `<address>:1.0`; `usb-serial` adapters have a folder of the port in between. */
  readonly ports?: readonly string[];
}

/** As the kernel lays it out: folders by how devices hang on each other, links to them by class. */
async function plug(address: string, path: string, { files, ports = [] }: Given): Promise<void> {
  const folder = join(root, "sys/devices/pci0/usb1", path);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await mkdir(join(root, "sys/bus/usb/devices"), { recursive: true });
  await symlink(folder, join(root, "sys/bus/usb/devices", address));
  for (const port of ports) {
    const device = join(folder, `${address}:1.0`, ...(port.startsWith("ttyUSB") ? [port] : []));
    await mkdir(join(device, "tty", port), { recursive: true });
    await symlink(device, join(device, "tty", port, "device"));
    await mkdir(join(root, "sys/class/tty"), { recursive: true });
    await symlink(join(device, "tty", port), join(root, "sys/class/tty", port));
  }
}

test("a machine without USB has no devices", async () => {
  expect(await scanUsb(root)).toEqual([]);
});

test("devices behind a hub, in order, each with its own ports", async () => {
  await plug("1-1", "1-1", { files: { idVendor: "05e3\n", idProduct: "0608\n" } });
  await plug("1-1.10", "1-1/1-1.10", {
    files: { idVendor: "2e8a\n", idProduct: "0005\n", serial: "e6614c311b\n", product: "Board in FS mode\n" },
    ports: ["ttyACM10", "ttyACM9"],
  });
  await plug("1-1.2", "1-1/1-1.2", { files: { idVendor: "1a86\n", idProduct: "7523\n" }, ports: ["ttyUSB0"] });
  expect(await scanUsb(root)).toEqual([
    { vendorId: 0x05e3, productId: 0x0608, serial: undefined, product: undefined, address: "1-1", ports: [] },
    {
      vendorId: 0x1a86,
      productId: 0x7523,
      serial: undefined,
      product: undefined,
      address: "1-1.2",
      ports: ["/dev/ttyUSB0"],
    },
    {
      vendorId: 0x2e8a,
      productId: 0x0005,
      serial: "e6614c311b",
      product: "Board in FS mode",
      address: "1-1.10",
      ports: ["/dev/ttyACM9", "/dev/ttyACM10"],
    },
  ]);
});

test("a device that is half gone, or has no ids, is left out", async () => {
  await plug("1-1", "1-1", { files: { idVendor: "2e8a\n" } });
  await plug("1-2", "1-2", { files: { idVendor: "zzzz\n", idProduct: "0005\n" } });
  await symlink(join(root, "gone"), join(root, "sys/bus/usb/devices/1-3"));
  await mkdir(join(root, "sys/class/tty/ttyACM0"), { recursive: true });
  expect(await scanUsb(root)).toEqual([]);
});

test("what a device tells of itself is one line of printable text", async () => {
  const files = {
    idVendor: "2e8a\n",
    idProduct: "0005\n",
    serial: `\u001b[2J${"x".repeat(300)}\n`,
    product: "a\nb\u202ec",
  };
  await plug("1-1", "1-1", { files });
  expect(await scanUsb(root)).toMatchObject([{ serial: `[2J${"x".repeat(97)}`, product: "abc" }]);
});
