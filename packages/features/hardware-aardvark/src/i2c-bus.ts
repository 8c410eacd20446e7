/** An I2C bus of any driver. */

export interface I2cBus {
  /** e.g. `aardvark0`, `i2c-1`. */
  readonly name: string;
  /** Addresses that answer, ascending. Throws TOOL_FAILED. */
  scan(signal: AbortSignal): Promise<readonly number[]>;
  /** With a register: it is written first, and the bytes follow a repeated start. Throws TOOL_FAILED. */
  read(
    from: { readonly address: number; readonly register: number | undefined; readonly length: number },
    signal: AbortSignal,
  ): Promise<Buffer>;
  /** Throws TOOL_FAILED. */
  write(address: number, bytes: Buffer, signal: AbortSignal): Promise<void>;
}

/** 7-bit addresses that devices may have; the others are reserved by the I2C specification. */
export const FIRST_ADDRESS = 0x08;
export const LAST_ADDRESS = 0x77;

export const addresses: readonly number[] = Array.from(
  { length: LAST_ADDRESS - FIRST_ADDRESS + 1 },
  (_one, at) => FIRST_ADDRESS + at,
);

/**
 * How to probe an address, as `i2cdetect` does. EEPROMs and clock chips would take an empty write as the beginning of one; other
 * devices may lose a byte when they are read.
 */
export const isProbedByReading = (address: number): boolean =>
  (address >= 0x30 && address <= 0x37) || (address >= 0x50 && address <= 0x5f);

export const hexByte = (value: number): string => `0x${value.toString(16).padStart(2, "0")}`;
