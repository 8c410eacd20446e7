/** One adapter. It stays open while svc runs: its outputs become inputs when it is closed. */
import { type Clock, SvcError } from "@svc/contract";
import { Semaphore, withTimeout } from "@svc/kit/async";
import { addresses, hexByte, type I2cBus, isProbedByReading } from "./i2c-bus.ts";
import { type FunctionName, isLost, statusError, VendorLibrary } from "./vendor-library.ts";

/** Bits of `AardvarkGpioBits`, in the order of the adapter's ribbon cable. */
export const PINS = { SCL: 0x01, SDA: 0x02, MISO: 0x04, SCK: 0x08, MOSI: 0x10, SS: 0x20 } as const;
export type PinName = keyof typeof PINS;

const SPI = 1;
const I2C = 2;
const I2C_PINS = PINS.SCL | PINS.SDA;
const I2C_KHZ = 100;
const I2C_TIMEOUT_MS = 200;
const CALL_MS = 5000;
/** `AardvarkI2cStatus`. */
const SLA_NACK = 3;
const LAST_DATA_ACK = 7;

interface AardvarkDeps {
  /** As the library counts adapters, from 0. */
  readonly port: number;
  readonly clock: Clock;
  /** Throws TOOL_FAILED. */
  findLibrary(): Promise<string>;
}

export interface SpiTransfer {
  readonly bytes: Buffer;
  /** 0 to 3. */
  readonly mode: number;
  readonly khz: number;
}

export class Aardvark implements I2cBus {
  readonly name: string;
  readonly #deps: AardvarkDeps;
  #library: VendorLibrary | undefined;
  #handle: number | undefined;
  /** Whether SPI and I2C are on; pins of a bus that is off are GPIO. undefined: not known. */
  #mode: number | undefined;
  #outputs = 0;
  #levels = 0;
  readonly #lock = new Semaphore(1);
  /** A call that has not come back from the library. */
  #stuck: string | undefined;
  #isClosed = false;

  constructor(deps: AardvarkDeps) {
    this.#deps = deps;
    this.name = `aardvark${deps.port}`;
  }

  scan(signal: AbortSignal): Promise<readonly number[]> {
    return this.#inTurn(signal, async () => {
      await this.#useI2c();
      const found: number[] = [];
      for (const address of addresses) {
        signal.throwIfAborted();
        const status = isProbedByReading(address)
          ? (await this.#i2cRead(address, 0, 1)).status
          : await this.#i2cWrite(address, Buffer.alloc(0), 0);
        if (status === 0 || status === LAST_DATA_ACK) found.push(address);
        else if (status !== SLA_NACK) throw busError(status, address);
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
    return this.#inTurn(signal, async () => {
      await this.#useI2c();
      if (register !== undefined) {
        const status = await this.#i2cWrite(address, Buffer.of(register), NO_STOP);
        if (status !== 0) {
          await this.#call("i2cFreeBus").catch(() => undefined);
          throw busError(status, address);
        }
      }
      const { status, bytes } = await this.#i2cRead(address, 0, length);
      if (status !== 0) throw busError(status, address);
      if (bytes.length < length)
        throw new SvcError("TOOL_FAILED", `${hexByte(address)} sent ${bytes.length} of ${length} bytes.`);
      return bytes;
    });
  }

  write(address: number, bytes: Buffer, signal: AbortSignal): Promise<void> {
    return this.#inTurn(signal, async () => {
      await this.#useI2c();
      const status = await this.#i2cWrite(address, bytes, 0);
      if (status !== 0) throw busError(status, address);
    });
  }

  /** Bytes that came while these went out. Throws TOOL_FAILED. */
  transfer({ bytes, mode, khz }: SpiTransfer, signal: AbortSignal): Promise<Buffer> {
    return this.#inTurn(signal, async () => {
      await this.#use(this.#mode! | SPI);
      const [polarity, phase] = [mode >> 1, mode & 1];
      await this.#call("spiConfigure", polarity, phase, 0);
      await this.#call("spiBitrate", khz);
      const received = Buffer.alloc(bytes.length);
      const count = await this.#call("spiWrite", bytes.length, bytes, received.length, received);
      return received.subarray(0, Math.min(count, received.length));
    });
  }

  /** Makes the pin an output with this level, or reads it; an output is read as one. Throws TOOL_FAILED. */
  pin(name: PinName, value: 0 | 1 | undefined, signal: AbortSignal): Promise<0 | 1> {
    const bit = PINS[name];
    return this.#inTurn(signal, async () => {
      await this.#use(this.#mode! & ~((bit & I2C_PINS) === 0 ? SPI : I2C));
      if (value !== undefined) {
        const levels = value === 1 ? this.#levels | bit : this.#levels & ~bit;
        // The level first: an output that begins with another one would be a pulse.
        await this.#call("gpioSet", levels);
        this.#levels = levels;
        if ((this.#outputs & bit) === 0) {
          await this.#call("gpioDirection", this.#outputs | bit);
          this.#outputs |= bit;
        }
        return value;
      }
      // The library reads inputs only.
      if ((this.#outputs & bit) !== 0) return (this.#levels & bit) === 0 ? 0 : 1;
      return ((await this.#call("gpioGet")) & bit) === 0 ? 0 : 1;
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lock.run(async () => {
      if (this.#handle !== undefined && this.#stuck === undefined) await this.#call("close").catch(() => undefined);
      this.#handle = undefined;
    });
  }

  /** One command at a time: the library is not made for more. */
  #inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      signal.throwIfAborted();
      if (this.#isClosed) throw new SvcError("TOOL_FAILED", "The feature is shut down.");
      if (this.#stuck !== undefined) {
        throw new SvcError("TOOL_FAILED", `The Aardvark library has not come back from ${this.#stuck}.`, {
          hint: "Unplug the adapter and plug it in again; if it stays like this, run: svc restart",
        });
      }
      await this.#ready();
      return await work();
    };
    return this.#lock.run(run, signal);
  }

  async #ready(): Promise<void> {
    if (this.#handle !== undefined) return;
    this.#library ??= await VendorLibrary.open(await this.#deps.findLibrary());
    const handle = await this.#raw("open", this.#deps.port);
    if (handle <= 0) throw statusError(handle === 0 ? -7 : handle);
    this.#handle = handle;
    this.#mode = undefined;
    this.#outputs = 0;
    this.#levels = 0;
    await this.#use(SPI | I2C);
  }

  async #useI2c(): Promise<void> {
    await this.#use(this.#mode! | I2C);
  }

  async #use(mode: number): Promise<void> {
    if (mode === this.#mode) return;
    const before = this.#mode ?? 0;
    await this.#call("configure", mode);
    this.#mode = mode;
    // Pins of an enabled bus are no longer outputs.
    if ((mode & SPI) !== 0) this.#outputs &= I2C_PINS;
    if ((mode & I2C) !== 0) this.#outputs &= ~I2C_PINS;
    if ((mode & ~before & I2C) === 0) return;
    await this.#call("i2cBitrate", I2C_KHZ);
    await this.#call("i2cTimeout", I2C_TIMEOUT_MS);
  }

  async #i2cRead(address: number, flags: number, length: number): Promise<{ status: number; bytes: Buffer }> {
    const bytes = Buffer.alloc(length);
    const done = new Uint16Array(1);
    const status = await this.#call("i2cRead", address, flags, length, bytes, done);
    return { status, bytes: bytes.subarray(0, Math.min(done[0]!, length)) };
  }

  /** The status, after all bytes were taken or one was not. */
  async #i2cWrite(address: number, bytes: Buffer, flags: number): Promise<number> {
    return await this.#call("i2cWrite", address, flags, bytes.length, bytes, new Uint16Array(1));
  }

  /** Calls a function on the open adapter. Throws TOOL_FAILED for a negative result. */
  async #call(name: FunctionName, ...args: readonly (number | Uint8Array | Uint16Array)[]): Promise<number> {
    const result = await this.#raw(name, this.#handle!, ...args);
    if (result >= 0) return result;
    if (isLost(result)) this.#handle = undefined;
    throw statusError(result);
  }

  async #raw(name: FunctionName, ...args: readonly (number | Uint8Array | Uint16Array)[]): Promise<number> {
    const running = this.#library!.call(name, ...args);
    const stuck = (): SvcError => {
      this.#stuck = name;
      const back = (): void => void (this.#stuck = undefined);
      running.then(back, back);
      return new SvcError("TOOL_FAILED", `The Aardvark library did not come back from ${name} in ${CALL_MS / 1000} s.`);
    };
    return await withTimeout({ clock: this.#deps.clock, timeoutMs: CALL_MS, error: stuck }, () => running);
  }
}

/** `AA_I2C_NO_STOP`: a repeated start follows. */
const NO_STOP = 0x04;

const BUS_STATUS: Readonly<Record<number, string>> = {
  1: "a bus error",
  2: "another master has the bus",
  3: "nothing answers at this address",
  4: "the device refused a byte",
  5: "another master has the bus",
  6: "the bus is held low; it may have no pull-up resistors",
  7: "the device wanted more bytes",
};

const busError = (status: number, address: number): SvcError =>
  new SvcError("TOOL_FAILED", `I2C ${hexByte(address)}: ${BUS_STATUS[status] ?? `status ${status}`}.`);
