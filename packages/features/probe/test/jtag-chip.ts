/**
 * A chip with a JTAG debug port, behind the `remote_bitbang` adapter of OpenOCD: each clock of the wire is a byte over TCP. The debug port
 * (ADIv5) has one memory access port, which reads `memory`.
 */
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface JtagChip extends AsyncDisposable {
  readonly port: number;
  /** Words that were written to memory. */
  readonly writes: number[];
}

const INSTRUCTIONS = { abort: 0x8, dpAccess: 0xa, apAccess: 0xb, idcode: 0xe } as const;
const IDCODE = 0x4ba0_0477;
/** Of an AHB access port, as Cortex-M4 chips have it. */
const AP_IDR = 0x2477_0011;
const OK = 0b010n;

/** The state after a clock, by TMS: IEEE 1149.1, figure 6-1. */
const NEXT: Readonly<Record<string, readonly [tms0: string, tms1: string]>> = {
  reset: ["idle", "reset"],
  idle: ["idle", "selectDr"],
  selectDr: ["captureDr", "selectIr"],
  captureDr: ["shiftDr", "exit1Dr"],
  shiftDr: ["shiftDr", "exit1Dr"],
  exit1Dr: ["pauseDr", "updateDr"],
  pauseDr: ["pauseDr", "exit2Dr"],
  exit2Dr: ["shiftDr", "updateDr"],
  updateDr: ["idle", "selectDr"],
  selectIr: ["captureIr", "reset"],
  captureIr: ["shiftIr", "exit1Ir"],
  shiftIr: ["shiftIr", "exit1Ir"],
  exit1Ir: ["pauseIr", "updateIr"],
  pauseIr: ["pauseIr", "exit2Ir"],
  exit2Ir: ["shiftIr", "updateIr"],
  updateIr: ["idle", "selectDr"],
};

/** `memory`: bytes by address; elsewhere are zeros. */
export async function startJtagChip(memory: ReadonlyMap<number, Uint8Array>): Promise<JtagChip> {
  const writes: number[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const tap = new Tap(
      (address) => wordAt(memory, address),
      (word) => void writes.push(word),
    );
    let tck = 0;
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    socket.setNoDelay().on("data", (bytes) => {
      let answer = "";
      for (const byte of bytes as Buffer) {
        const command = String.fromCharCode(byte);
        if (command === "R") answer += tap.tdo;
        if (command < "0" || command > "7") continue;
        const lines = byte - 0x30;
        const next = lines >> 2;
        if (next === 1 && tck === 0) tap.rise((lines >> 1) & 1, lines & 1);
        if (next === 0 && tck === 1) tap.fall();
        tck = next;
      }
      if (answer !== "") socket.write(answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    writes,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const wordAt = (memory: ReadonlyMap<number, Uint8Array>, address: number): number =>
  Buffer.from([0, 1, 2, 3].map((at) => byteAt(memory, address + at))).readUInt32LE();

function byteAt(memory: ReadonlyMap<number, Uint8Array>, address: number): number {
  for (const [start, bytes] of memory) {
    const byte = bytes[address - start];
    if (byte !== undefined) return byte;
  }
  return 0;
}

class Tap {
  readonly #read: (address: number) => number;
  readonly #write: (word: number) => void;
  #state = "reset";
  #instruction: number = INSTRUCTIONS.idcode;
  /** What is shifted, and how long it is. */
  #shift = 0n;
  #bits = 0n;
  /** As it is on the wire, from the last falling edge. */
  tdo = "0";
  #select = 0;
  #control = 0;
  #csw = 0x2300_0042;
  #tar = 0;
  /** Result of the last read, which the next access shifts out. */
  #result = 0;

  constructor(read: (address: number) => number, write: (word: number) => void) {
    this.#read = read;
    this.#write = write;
  }

  rise(tms: number, tdi: number): void {
    if (this.#state === "captureDr") [this.#shift, this.#bits] = this.#captured();
    else if (this.#state === "captureIr") [this.#shift, this.#bits] = [1n, 4n];
    else if (this.#state === "shiftDr" || this.#state === "shiftIr")
      this.#shift = (this.#shift >> 1n) | (BigInt(tdi) << (this.#bits - 1n));
    this.#state = NEXT[this.#state]![tms]!;
    if (this.#state === "reset") this.#instruction = INSTRUCTIONS.idcode;
    if (this.#state === "updateIr") this.#instruction = Number(this.#shift & 0xfn);
    if (this.#state === "updateDr") this.#update();
  }

  fall(): void {
    this.tdo = String(this.#shift & 1n);
  }

  #captured(): [bigint, bigint] {
    switch (this.#instruction) {
      case INSTRUCTIONS.idcode:
        return [BigInt(IDCODE), 32n];
      case INSTRUCTIONS.abort:
      case INSTRUCTIONS.dpAccess:
      case INSTRUCTIONS.apAccess:
        return [(BigInt(this.#result >>> 0) << 3n) | OK, 35n];
      default:
        return [0n, 1n];
    }
  }

  #update(): void {
    const isDp = this.#instruction === INSTRUCTIONS.dpAccess;
    if (!isDp && this.#instruction !== INSTRUCTIONS.apAccess) return;
    const isRead = (this.#shift & 1n) === 1n;
    const register = Number((this.#shift >> 1n) & 3n) * 4;
    const value = Number((this.#shift >> 3n) & 0xffff_ffffn);
    if (isDp) {
      // RDBUFF hands over the last result once more.
      if (isRead && register !== 0xc) this.#result = register === 4 ? this.#control : register === 8 ? this.#select : 0;
      // Power that is asked for is there.
      if (!isRead && register === 4) this.#control = value | ((value & 0x5000_0000) << 1);
      if (!isRead && register === 8) this.#select = value;
    } else this.#accessPort((this.#select & 0xf0) | register, isRead ? undefined : value);
  }

  #accessPort(register: number, value: number | undefined): void {
    // One access port: others do not exist.
    if (this.#select >>> 24 !== 0) {
      this.#result = 0;
      return;
    }
    const memory =
      register === 0xc
        ? this.#tar
        : register >= 0x10 && register <= 0x1c
          ? (this.#tar & ~0xf) | (register & 0xf)
          : undefined;
    if (value === undefined) {
      const registers: Readonly<Record<number, number>> = { 0: this.#csw, 4: this.#tar, 0xfc: AP_IDR };
      this.#result = memory === undefined ? (registers[register] ?? 0) : this.#read((memory & ~3) >>> 0);
    } else if (memory !== undefined) this.#write(value);
    else if (register === 0) this.#csw = value;
    else if (register === 4) this.#tar = value >>> 0;
    const size = 1 << (this.#csw & 7);
    if (register === 0xc && (this.#csw & 0x30) !== 0) this.#tar = (this.#tar + size) >>> 0;
  }
}
