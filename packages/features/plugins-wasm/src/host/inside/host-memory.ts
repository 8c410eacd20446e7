/**
 * What one call has of the host: blocks that Extism gives out as often, and as large, as they are asked for
 * (https://extism.org/docs/concepts/memory). An address is a block's number in its upper 16 bits, and a place in the block.
 */
import type { CallContext } from "@extism/extism";
import { HostStop } from "./host-stop.ts";

export class HostMemory {
  #left: number;
  /** By address, those that are freed among them until room is needed. */
  readonly #sizes = new Map<bigint, number>();
  #blocks = 0;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  alloc(context: CallContext, size: bigint): bigint {
    this.#reserve(context, BigInt.asUintN(64, size));
    return this.#note(context.alloc(size), Number(size));
  }

  /** `bytes` must have their buffer for themselves: it becomes the block. */
  store(context: CallContext, bytes: Uint8Array<ArrayBuffer>): bigint {
    this.#reserve(context, BigInt(bytes.byteLength));
    return this.#note(context.store(bytes), bytes.byteLength);
  }

  #reserve(context: CallContext, size: bigint): void {
    if (size > this.#left) this.#sweep(context);
    if (size > this.#left) throw new HostStop("it asked for more memory of the host than it may have.");
    // Beyond, addresses would be those of other blocks.
    if (this.#blocks >= MAX_BLOCKS) throw new HostStop("it asked for memory of the host too often.");
    this.#blocks += 1;
    this.#left -= Number(size);
  }

  #note(address: bigint, size: number): bigint {
    this.#sizes.set(address, size);
    return address;
  }

  /** Takes back what the plugin has freed. */
  #sweep(context: CallContext): void {
    for (const [address, size] of this.#sizes) {
      if (size === 0 || context.length(address) > 0n) continue;
      this.#sizes.delete(address);
      this.#left += size;
    }
  }
}

const MAX_BLOCKS = 30_000;

/** The bytes from an address to the end of its block, which change as the plugin changes them; undefined: there is none. */
export function bytesAt(context: CallContext, address: bigint): Uint8Array | undefined {
  return context
    .read(address)
    ?.bytes()
    .subarray(Number(BigInt.asUintN(48, address)));
}

export function textAt(context: CallContext, address: bigint): string | undefined {
  const bytes = bytesAt(context, address);
  return bytes && new TextDecoder().decode(bytes);
}
