/** Reads the binary format of WebAssembly, https://webassembly.github.io/spec/core/binary/, as far as a module's outside goes. */

export class BinaryReader {
  readonly #bytes: Uint8Array;
  #at: number;
  readonly #end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.byteLength) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#end;
  }

  byte(): number {
    if (this.#at >= this.#end) throw new MalformedModule();
    return this.#bytes[this.#at++] as number;
  }

  /** LEB128, at most five bytes. */
  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (value > 0xffff_ffff) throw new MalformedModule();
        return value;
      }
    }
    throw new MalformedModule();
  }

  name(): string {
    const bytes = this.take(this.u32());
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new MalformedModule();
    }
  }

  take(length: number): Uint8Array {
    if (length > this.#end - this.#at) throw new MalformedModule();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** A reader of the next `length` bytes, which this one is beyond then. */
  part(length: number): BinaryReader {
    const part = this.take(length);
    return new BinaryReader(part);
  }
}

/** The bytes are no module. */
export class MalformedModule extends Error {}
