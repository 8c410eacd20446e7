/**
 * The GDB remote serial protocol, as far as reading memory needs it. A server stops the target's processor when a debugger connects, so
 * every session ends with `D`, which lets it run again.
 */
import { type Clock, SvcError } from "@svc/contract";
import { withTimeout } from "@svc/kit/async";
import type { Duplex } from "node:stream";

const ANSWER_MS = 5000;
const DETACH_MS = 1000;
const MAX_TRIES = 3;
/** Characters of one packet. Servers announce 16 KiB and less. */
const MAX_PACKET = 65_536;
/** Bytes between packets that belong to none. */
const MAX_NOISE = 4096;
/** Bytes of memory asked for at once, where the server does not say how long its packets may be, and where it does. */
const SMALL_READ = 128;
const LARGE_READ = 1024;

export class GdbRemote {
  readonly #stream: Duplex;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #packets = new PacketReader({
    acknowledge: (isGood) => void this.#stream.write(isGood ? "+" : "-"),
    sendAgain: () => this.#sendAgain(),
  });
  #lastSent = "";
  #tries = 0;
  #waiting: PromiseWithResolvers<string> | undefined;
  /** Why the connection is of no use any more. */
  #failure: unknown;
  #readSize = SMALL_READ;

  /** `stream`: connected. `signal` ends what waits. */
  constructor(stream: Duplex, { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal }) {
    this.#stream = stream;
    this.#clock = clock;
    this.#signal = signal;
    stream.on("data", (bytes: Buffer) => this.#take(bytes));
    stream.on("error", () => this.#fail(broken("broke off")));
    stream.on("close", () => this.#fail(broken("ended the connection")));
  }

  /** Says hello. Throws REMOTE_UNREACHABLE, REMOTE_TIMEOUT. */
  async begin(): Promise<void> {
    const features = await this.#ask("qSupported:swbreak+", ANSWER_MS);
    const packetSize = Number.parseInt(/(?:^|;)PacketSize=([\da-f]+)/i.exec(features)?.[1] ?? "", 16);
    if (packetSize >= 64) this.#readSize = Math.min(LARGE_READ, Math.floor((packetSize - 8) / 2));
  }

  /** Throws TOOL_FAILED where the target refuses, REMOTE_UNREACHABLE, REMOTE_TIMEOUT. */
  async read(address: number, length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let at = address;
    while (at < address + length) {
      const size = Math.min(this.#readSize, address + length - at);
      const reply = await this.#ask(`m${at.toString(16)},${size.toString(16)}`, ANSWER_MS);
      if (/^E(?:[\da-f]{2}|\.)/i.test(reply) && reply.length % 2 === 1) throw refused(at, reply);
      if (!/^(?:[\da-f]{2})+$/i.test(reply)) throw broken("answered a read with something else than bytes");
      const bytes = Buffer.from(reply, "hex");
      if (bytes.length > size) throw broken("sent more bytes than were asked for");
      parts.push(bytes);
      at += bytes.length;
    }
    return Buffer.concat(parts);
  }

  /** Lets the target run, and closes the connection. Never throws: the answer may be lost with the connection. */
  async end(): Promise<void> {
    // QEMU that once had a debugger which speaks of processes refuses `D` without one, and keeps the processor stopped.
    for (const command of ["D", "D;1"]) {
      if (this.#failure !== undefined || this.#stream.destroyed) break;
      const answer = await this.#ask(command, DETACH_MS, false).catch(() => undefined);
      if (answer === "OK") break;
    }
    this.#stream.on("error", () => undefined).destroy();
  }

  async #ask(command: string, limitMs: number, isAborted = true): Promise<string> {
    const signal = isAborted ? this.#signal : undefined;
    signal?.throwIfAborted();
    if (this.#failure !== undefined) throw this.#failure;
    const waiting = Promise.withResolvers<string>();
    this.#waiting = waiting;
    this.#tries = 0;
    this.#lastSent = framed(command);
    this.#stream.write(this.#lastSent);
    try {
      return await withTimeout({ clock: this.#clock, timeoutMs: limitMs, signal, error: late }, () => waiting.promise);
    } finally {
      this.#waiting = undefined;
    }
  }

  #take(bytes: Buffer): void {
    try {
      for (const packet of this.#packets.take(bytes)) {
        // What a server says unasked: that the target stopped, or a line for the console.
        if (/^(?:[STWX][\da-f]{2}|O(?:[\da-f]{2})+$)/i.test(packet)) continue;
        this.#waiting?.resolve(packet);
      }
    } catch (error) {
      this.#fail(error);
      this.#stream.destroy();
    }
  }

  #sendAgain(): void {
    if (!this.#waiting) return;
    this.#tries += 1;
    if (this.#tries >= MAX_TRIES) throw broken("refuses every packet");
    this.#stream.write(this.#lastSent);
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#waiting?.reject(this.#failure);
  }
}

interface PacketReaderDeps {
  acknowledge(isGood: boolean): void;
  /** The server did not understand the last packet. */
  sendAgain(): void;
}

/** Finds packets in what comes. */
class PacketReader {
  readonly #deps: PacketReaderDeps;
  #held = Buffer.alloc(0);
  #noise = 0;
  #damaged = 0;

  constructor(deps: PacketReaderDeps) {
    this.#deps = deps;
  }

  /** Throws REMOTE_UNREACHABLE for invalid bytes. */
  take(chunk: Buffer): string[] {
    const packets: string[] = [];
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    while (rest.length > 0) {
      const first = rest[0];
      if (first !== DOLLAR && first !== PERCENT) {
        if (first === MINUS) this.#deps.sendAgain();
        else if (first !== PLUS && (this.#noise += 1) > MAX_NOISE)
          throw broken("does not speak the GDB remote protocol");
        rest = rest.subarray(1);
        continue;
      }
      const end = rest.indexOf(HASH);
      if (end < 0 || rest.length < end + 3) break;
      // Neither sign occurs inside a packet: when a new packet begins, an incomplete one is dropped.
      const body = rest.subarray(rest.lastIndexOf(DOLLAR, end) + 1 || 1, end);
      const isGood = Number.parseInt(rest.toString("latin1", end + 1, end + 3), 16) === sumOf(body);
      rest = rest.subarray(end + 3);
      // A notification, which is not acknowledged.
      if (first === PERCENT) continue;
      this.#deps.acknowledge(isGood);
      if (isGood) packets.push(unpacked(body));
      else if ((this.#damaged += 1) >= MAX_TRIES) throw broken("sends damaged packets");
    }
    if (rest.length > MAX_PACKET) throw broken("sends a packet that is too long");
    // A copy: the chunk that it is a part of may be large.
    this.#held = Buffer.from(rest);
    return packets;
  }
}

const PLUS = 0x2b;
const MINUS = 0x2d;
const DOLLAR = 0x24;
const PERCENT = 0x25;
const HASH = 0x23;
const STAR = 0x2a;
const BRACE = 0x7d;

const sumOf = (bytes: Uint8Array): number => bytes.reduce((sum, byte) => (sum + byte) & 0xff, 0);

const framed = (text: string): string => `$${text}#${sumOf(Buffer.from(text, "latin1")).toString(16).padStart(2, "0")}`;

/** Escapes and run-length encoding taken away. Throws REMOTE_UNREACHABLE. */
function unpacked(body: Uint8Array): string {
  const text: string[] = [];
  let length = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at]!;
    let piece = String.fromCharCode(byte);
    if (byte === BRACE) piece = String.fromCharCode(body[(at += 1)]! ^ 0x20);
    else if (byte === STAR) {
      const count = body[(at += 1)]! - 29;
      const last = text.at(-1);
      if (last === undefined || !(count >= 3 && count <= 97)) throw broken("sends a run of nothing");
      piece = last.at(-1)!.repeat(count);
    }
    length += piece.length;
    if (length > MAX_PACKET) throw broken("sends a packet that is too long");
    text.push(piece);
  }
  return text.join("");
}

const broken = (what: string): SvcError => new SvcError("REMOTE_UNREACHABLE", `The GDB server ${what}.`);

const late = (): SvcError =>
  new SvcError("REMOTE_TIMEOUT", "The GDB server did not answer in time.", {
    hint: "Close other debuggers that are connected to it, and check that the board is powered.",
  });

/** The number is the server's; its words are not repeated. */
const refused = (address: number, reply: string): SvcError =>
  new SvcError(
    "TOOL_FAILED",
    `The target can't be read at 0x${address.toString(16)} (${/^E[\da-f]{2}/i.exec(reply)?.[0] ?? "E"}).`,
  );
