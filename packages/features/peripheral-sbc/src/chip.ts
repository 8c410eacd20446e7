/**
 * GPIO controllers through the character device of the kernel, version 2 of its interface (include/uapi/linux/gpio.h). A line that was
 * requested is held, and keeps its direction and level, until its handle is closed.
 */
import { SvcError } from "@svc/contract";
import koffi from "koffi";
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

export type Bias = "up" | "down" | "none";

export interface LineInfo {
  readonly name: string;
  /** Who holds it, the kernel's own drivers among them; undefined: it is free. */
  readonly consumer: string | undefined;
}

export interface LineOptions {
  readonly direction: "input" | "output" | "as-is";
  /** For an output. */
  readonly value?: 0 | 1;
  /** For an input. */
  readonly bias?: Bias;
  /** For an input: the kernel reports a change to `Line.changes` once it has lasted this long. */
  readonly debounceMs?: number;
}

const libc = koffi.load(null);
const ioctl = libc.func("int ioctl(int fd, unsigned long request, void *argument)");
const poll = libc.func("int poll(void *fds, unsigned long count, int timeoutMs)");

// Numbers and sizes of include/uapi/linux/gpio.h.
const GET_CHIPINFO = 0x8044b401;
const GET_LINEINFO = 0xc100b405;
const GET_LINE = 0xc250b407;
const GET_VALUES = 0xc010b40e;
const SET_VALUES = 0xc010b40f;
const CHIPINFO_BYTES = 68;
const LINEINFO_BYTES = 256;
const REQUEST_BYTES = 592;
/** A Pi 5 has 14, numbered with gaps after a driver was loaded again. */
const MOST_CHIPS = 64;
const CONSUMER_AT = 256;
const CONFIG_AT = 288;
const NUMBER_OF_LINES_AT = 560;
const EVENT_BUFFER_AT = 564;
const FD_AT = 588;
const NUMBER_OF_ATTRIBUTES_AT = CONFIG_AT + 8;
const ATTRIBUTES_AT = CONFIG_AT + 32;
const FLAG_USED = 1n << 0n;
const FLAGS = { input: 1n << 2n, output: 1n << 3n, "as-is": 0n };
const BIASES = { up: 1n << 8n, down: 1n << 9n, none: 1n << 10n };
const BOTH_EDGES = (1n << 4n) | (1n << 5n);
const OUTPUT_VALUES = 2;
const DEBOUNCE = 3;
const EVENT_BYTES = 48;
const EVENT_ID_AT = 8;
const RISING_EDGE = 1;
const POLLIN = 1;
const EVENTS_AT_ONCE = 16;
/** That the kernel keeps of a line, and that are read at once. */
const MOST_EVENTS = 256;

export class Chip {
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** The controller with this label, among those below `root`. Throws TOOL_FAILED. */
  static open(root: string, label: string): Chip {
    let refused: string | undefined;
    for (let number = 0; number < MOST_CHIPS; number += 1) {
      try {
        const fd = openSync(join(root, `dev/gpiochip${number}`), "r+");
        const info = Buffer.alloc(CHIPINFO_BYTES);
        if (ioctl(fd, GET_CHIPINFO, info) === 0 && textAt(info, 32, 32) === label) return new Chip(fd);
        closeSync(fd);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code !== "ENOENT") refused = code;
      }
    }
    throw new SvcError("TOOL_FAILED", `There is no GPIO controller ${label} that svc may use.`, {
      hint:
        refused === "EACCES"
          ? "Add the user that svc runs as to the group gpio, and start svc again."
          : "Use a kernel with GPIO character devices (/dev/gpiochip0).",
    });
  }

  info(line: number): LineInfo {
    const info = Buffer.alloc(LINEINFO_BYTES);
    info.writeUInt32LE(line, 64);
    if (ioctl(this.#fd, GET_LINEINFO, info) !== 0) throw failure(line, "is not known to the kernel");
    const isUsed = (info.readBigUInt64LE(72) & FLAG_USED) !== 0n;
    return { name: textAt(info, 0, 32), consumer: isUsed ? textAt(info, 32, 32) || "the kernel" : undefined };
  }

  /** Throws TOOL_FAILED, with who has the line when it is taken. */
  request(line: number, { direction, value, bias, debounceMs }: LineOptions): Line {
    const request = Buffer.alloc(REQUEST_BYTES);
    request.writeUInt32LE(line, 0);
    request.write("svc", CONSUMER_AT);
    const edges = debounceMs === undefined ? 0n : BOTH_EDGES;
    const flags = FLAGS[direction] | (bias ? BIASES[bias] : 0n) | edges;
    request.writeBigUInt64LE(flags, CONFIG_AT);
    if (value !== undefined) {
      request.writeUInt32LE(1, NUMBER_OF_ATTRIBUTES_AT);
      request.writeUInt32LE(OUTPUT_VALUES, ATTRIBUTES_AT);
      request.writeBigUInt64LE(BigInt(value), ATTRIBUTES_AT + 8);
      request.writeBigUInt64LE(1n, ATTRIBUTES_AT + 16);
    }
    if (debounceMs !== undefined) request.writeUInt32LE(MOST_EVENTS, EVENT_BUFFER_AT);
    if (debounceMs !== undefined && debounceMs > 0) {
      request.writeUInt32LE(1, NUMBER_OF_ATTRIBUTES_AT);
      request.writeUInt32LE(DEBOUNCE, ATTRIBUTES_AT);
      request.writeUInt32LE(debounceMs * 1000, ATTRIBUTES_AT + 8);
      request.writeBigUInt64LE(1n, ATTRIBUTES_AT + 16);
    }
    request.writeUInt32LE(1, NUMBER_OF_LINES_AT);
    if (ioctl(this.#fd, GET_LINE, request) === 0) return new Line(line, request.readInt32LE(FD_AT));
    const { consumer } = this.info(line);
    throw consumer === undefined
      ? failure(line, `can't be set up like this (${errnoName()})`)
      : failure(line, `is used by ${consumer}`, "Choose another pin, or end what uses it.");
  }

  close(): void {
    closeSync(this.#fd);
  }
}

export class Line {
  readonly #line: number;
  readonly #fd: number;

  constructor(line: number, fd: number) {
    this.#line = line;
    this.#fd = fd;
  }

  get(): 0 | 1 {
    const values = Buffer.alloc(16);
    values.writeBigUInt64LE(1n, 8);
    if (ioctl(this.#fd, GET_VALUES, values) !== 0) throw failure(this.#line, `can't be read (${errnoName()})`);
    return (values.readBigUInt64LE(0) & 1n) === 1n ? 1 : 0;
  }

  set(value: 0 | 1): void {
    const values = Buffer.alloc(16);
    values.writeBigUInt64LE(BigInt(value), 0);
    values.writeBigUInt64LE(1n, 8);
    if (ioctl(this.#fd, SET_VALUES, values) !== 0) throw failure(this.#line, `can't be set (${errnoName()})`);
  }

  /** Levels after the changes that the kernel has kept since the last time, in order; it drops the oldest of too many. Does not wait. */
  changes(): (0 | 1)[] {
    const levels: (0 | 1)[] = [];
    const events = Buffer.alloc(EVENT_BYTES * EVENTS_AT_ONCE);
    const asked = Buffer.alloc(8);
    asked.writeInt32LE(this.#fd, 0);
    asked.writeInt16LE(POLLIN, 4);
    // A read would wait, and hold up everything else.
    while (levels.length < MOST_EVENTS && poll(asked, 1, 0) === 1 && (asked.readInt16LE(6) & POLLIN) !== 0) {
      const length = readSync(this.#fd, events);
      for (let at = 0; at + EVENT_BYTES <= length; at += EVENT_BYTES) {
        levels.push(events.readUInt32LE(at + EVENT_ID_AT) === RISING_EDGE ? 1 : 0);
      }
    }
    return levels;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

const textAt = (bytes: Buffer, at: number, length: number): string =>
  bytes
    .toString("utf8", at, at + length)
    .split("\0", 1)[0]!
    .replaceAll(/\p{Cc}/gu, "");

const errnoName = (): string => {
  const errno = koffi.errno();
  return Object.entries(koffi.os.errno).find(([, value]) => value === errno)?.[0] ?? `errno ${errno}`;
};

const failure = (line: number, what: string, hint?: string): SvcError =>
  new SvcError("TOOL_FAILED", `GPIO ${line} ${what}.`, hint === undefined ? {} : { hint });
