/**
 * An I2C bus of this computer through the kernel's `/dev/i2c-*` (include/uapi/linux/i2c-dev.h and i2c.h), by ioctl. A bus whose driver has
 * plain I2C is used so; one that knows SMBus only (as the kernel's own stub does) by its commands. Addresses that a driver of the kernel
 * has are left alone.
 */
import { SvcError } from "@svc/contract";
import { Semaphore } from "@svc/kit/async";
import { constants, open, type FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import { addresses, hexByte, type I2cBus, isProbedByReading } from "./i2c-bus.ts";

const SLAVE = 0x0703;
const FUNCS = 0x0705;
const RDWR = 0x0707;
const SMBUS = 0x0720;

const HAS_I2C = 0x0000_0001n;
const HAS_QUICK = 0x0001_0000n;
const HAS_BLOCK_READ = 0x0400_0000n;
const HAS_BLOCK_WRITE = 0x0800_0000n;

const READ = 1;
const WRITE = 0;
const QUICK = 0;
const BYTE = 1;
const BYTE_DATA = 2;
const I2C_BLOCK = 8;
const BLOCK_MAX = 32;
const MESSAGE_READ = 0x0001;

/** Each call resolves with the errno, 0 for none. */
interface Kernel {
  ioctl(fd: number, request: number, argument: number | Buffer): Promise<number>;
  /** `data`: a union i2c_smbus_data, 34 bytes. */
  smbus(fd: number, readWrite: number, command: number, size: number, data: Buffer | null): Promise<number>;
  transfer(fd: number, messages: readonly Message[]): Promise<number>;
  name(errno: number): string;
}

interface Message {
  readonly address: number;
  readonly flags: number;
  readonly bytes: Buffer;
}

export class LinuxI2c implements I2cBus {
  readonly name: string;
  readonly #path: string;
  readonly #lock = new Semaphore(1);

  /** `bus`: such as `/dev/i2c-1`. */
  constructor(root: string, bus: string) {
    this.name = basename(bus);
    this.#path = join(root, "dev", this.name);
  }

  scan(signal: AbortSignal): Promise<readonly number[]> {
    return this.#open(signal, async (bus) => {
      const found: number[] = [];
      for (const address of addresses) {
        signal.throwIfAborted();
        const taken = await bus.select(address);
        // A driver of the kernel has it: a device is there.
        if (taken === "EBUSY") found.push(address);
        else if (taken !== undefined) throw failure(this.name, address, taken);
        else if (await bus.answers(address)) found.push(address);
      }
      return found;
    });
  }

  read(
    {
      address,
      register,
      length,
    }: { readonly address: number; readonly register: number | undefined; readonly length: number },
    signal: AbortSignal,
  ): Promise<Buffer> {
    return this.#open(signal, async (bus) => {
      await this.#choose(bus, address);
      return await bus.read(address, register, length);
    });
  }

  write(address: number, bytes: Buffer, signal: AbortSignal): Promise<void> {
    return this.#open(signal, async (bus) => {
      await this.#choose(bus, address);
      await bus.write(address, bytes);
    });
  }

  async #choose(bus: OpenBus, address: number): Promise<void> {
    const refused = await bus.select(address);
    if (refused === undefined) return;
    throw refused === "EBUSY"
      ? new SvcError("TOOL_FAILED", `I2C ${hexByte(address)} on ${this.name} belongs to a driver of the kernel.`)
      : failure(this.name, address, refused);
  }

  /** One command at a time. */
  #open<T>(signal: AbortSignal, work: (bus: OpenBus) => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      signal.throwIfAborted();
      const file = await this.#file();
      try {
        return await work(await OpenBus.of(file, this.name));
      } finally {
        await file.close();
      }
    };
    return this.#lock.run(run);
  }

  async #file(): Promise<FileHandle> {
    let code: string | undefined;
    // Without waiting: a FIFO of this name would hold it up.
    const file = await open(this.#path, constants.O_RDWR | constants.O_NONBLOCK).catch(
      (error: NodeJS.ErrnoException) => {
        code = error.code;
        return undefined;
      },
    );
    if (file && (await file.stat()).isCharacterDevice()) return file;
    await file?.close();
    throw new SvcError("TOOL_FAILED", `There is no I2C bus ${this.#path} that svc may use.`, {
      hint:
        code === "EACCES"
          ? "Add the user that svc runs as to the group i2c, and start svc again."
          : "Turn the bus on (raspi-config, or modprobe i2c-dev), and correct i2c_buses in [hardware].",
    });
  }
}

class OpenBus {
  readonly #kernel: Kernel;
  readonly #fd: number;
  readonly #bus: string;
  readonly #functions: bigint;

  private constructor(kernel: Kernel, { fd }: FileHandle, bus: string, functions: bigint) {
    this.#kernel = kernel;
    this.#fd = fd;
    this.#bus = bus;
    this.#functions = functions;
  }

  static async of(file: FileHandle, bus: string): Promise<OpenBus> {
    const kernel = await loadKernel();
    const functions = Buffer.alloc(8);
    const errno = await kernel.ioctl(file.fd, FUNCS, functions);
    if (errno !== 0) throw new SvcError("TOOL_FAILED", `${bus} is no I2C bus (${kernel.name(errno)}).`);
    return new OpenBus(kernel, file, bus, functions.readBigUInt64LE());
  }

  /** The error's name; undefined: the address may be used. */
  async select(address: number): Promise<string | undefined> {
    const errno = await this.#kernel.ioctl(this.#fd, SLAVE, address);
    return errno === 0 ? undefined : this.#kernel.name(errno);
  }

  /** After `select`. */
  async answers(address: number): Promise<boolean> {
    const reads = isProbedByReading(address) || (this.#functions & HAS_QUICK) === 0n;
    return (await (reads ? this.#smbus(READ, 0, BYTE, Buffer.alloc(34)) : this.#smbus(WRITE, 0, QUICK, null))) === 0;
  }

  async read(address: number, register: number | undefined, length: number): Promise<Buffer> {
    if ((this.#functions & HAS_I2C) !== 0n) {
      const bytes = Buffer.alloc(length);
      const message = { address, flags: MESSAGE_READ, bytes };
      const first = register === undefined ? [] : [{ address, flags: 0, bytes: Buffer.of(register) }];
      this.#demand(address, await this.#kernel.transfer(this.#fd, [...first, message]));
      return bytes;
    }
    const parts: Buffer[] = [];
    for (let at = 0; at < length;) {
      const size =
        register !== undefined && (this.#functions & HAS_BLOCK_READ) !== 0n ? Math.min(BLOCK_MAX, length - at) : 1;
      const data = Buffer.alloc(34);
      // Registers are 8 bits: behind the last one comes the first.
      const command = ((register ?? 0) + at) & 0xff;
      if (register === undefined) this.#demand(address, await this.#smbus(READ, 0, BYTE, data));
      else if (size === 1) this.#demand(address, await this.#smbus(READ, command, BYTE_DATA, data));
      else {
        data[0] = size;
        this.#demand(address, await this.#smbus(READ, command, I2C_BLOCK, data));
        if (data[0] !== size) throw failure(this.#bus, address, "fewer bytes came");
      }
      parts.push(size === 1 ? data.subarray(0, 1) : data.subarray(1, 1 + size));
      at += size;
    }
    return Buffer.concat(parts);
  }

  async write(address: number, bytes: Buffer): Promise<void> {
    if ((this.#functions & HAS_I2C) !== 0n) {
      this.#demand(address, await this.#kernel.transfer(this.#fd, [{ address, flags: 0, bytes }]));
      return;
    }
    const [command = 0, ...rest] = bytes;
    const data = Buffer.alloc(34);
    if (rest.length === 0) this.#demand(address, await this.#smbus(WRITE, command, BYTE, null));
    else if (rest.length === 1) {
      data[0] = rest[0]!;
      this.#demand(address, await this.#smbus(WRITE, command, BYTE_DATA, data));
    } else {
      if (rest.length > BLOCK_MAX || (this.#functions & HAS_BLOCK_WRITE) === 0n) {
        throw new SvcError("TOOL_FAILED", `${this.#bus} takes at most ${BLOCK_MAX} bytes and a register at once.`);
      }
      data[0] = rest.length;
      data.set(rest, 1);
      this.#demand(address, await this.#smbus(WRITE, command, I2C_BLOCK, data));
    }
  }

  #smbus(readWrite: number, command: number, size: number, data: Buffer | null): Promise<number> {
    return this.#kernel.smbus(this.#fd, readWrite, command, size, data);
  }

  #demand(address: number, errno: number): void {
    if (errno !== 0) throw failure(this.#bus, address, this.#kernel.name(errno));
  }
}

const NO_ANSWER = new Set(["ENXIO", "EREMOTEIO", "ENODEV"]);

const failure = (bus: string, address: number, why: string): SvcError =>
  new SvcError(
    "TOOL_FAILED",
    `I2C ${hexByte(address)} on ${bus}: ${NO_ANSWER.has(why) ? "nothing answers at this address" : why}.`,
  );

/** The system call, in a separate thread, because it waits for the bus. */
async function loadKernel(): Promise<Kernel> {
  const { default: koffi } = await import("koffi");
  const libc = koffi.load(null);
  const byAddress = libc.func("int ioctl(int fd, unsigned long request, void *argument)");
  const byValue = libc.func("int ioctl(int fd, unsigned long request, unsigned long argument)");
  const ioctl = (fd: number, request: number, argument: number | Buffer): Promise<number> =>
    new Promise((resolve, reject) => {
      const native = typeof argument === "number" ? byValue : byAddress;
      native.async(fd, request, argument, (error: unknown, result: number) => {
        if (error) reject(error as Error);
        else resolve(result < 0 ? koffi.errno() : 0);
      });
    });
  const pointTo = (from: Buffer, at: number, to: Buffer): void => void from.writeBigUInt64LE(koffi.address(to), at);
  return {
    ioctl,
    // struct i2c_smbus_ioctl_data
    async smbus(fd, readWrite, command, size, data) {
      const argument = Buffer.alloc(16);
      argument.writeUInt8(readWrite, 0);
      argument.writeUInt8(command, 1);
      argument.writeUInt32LE(size, 4);
      if (data) pointTo(argument, 8, data);
      const errno = await ioctl(fd, SMBUS, argument);
      // Here so that it is not freed before the call is over.
      void data?.length;
      return errno;
    },
    // struct i2c_rdwr_ioctl_data, and a struct i2c_msg for each message
    async transfer(fd, list) {
      const messages = Buffer.alloc(16 * list.length);
      for (const [index, { address, flags, bytes }] of list.entries()) {
        const at = 16 * index;
        messages.writeUInt16LE(address, at);
        messages.writeUInt16LE(flags, at + 2);
        messages.writeUInt16LE(bytes.length, at + 4);
        pointTo(messages, at + 8, bytes);
      }
      const argument = Buffer.alloc(16);
      pointTo(argument, 0, messages);
      argument.writeUInt32LE(list.length, 8);
      const errno = await ioctl(fd, RDWR, argument);
      void [messages.length, ...list.map(({ bytes }) => bytes.length)];
      return errno;
    },
    name: (number) => Object.entries(koffi.os.errno).find(([, value]) => value === number)?.[0] ?? `errno ${number}`,
  };
}
