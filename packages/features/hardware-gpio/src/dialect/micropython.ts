/**
 * MicroPython and CircuitPython by their raw REPL, as mpremote speaks it: https://docs.micropython.org/en/latest/reference/repl.html.
 * Code goes in by raw paste mode with flow control where the firmware has it (1.14 and later), else in small pieces with pauses.
 */
import { type Clock, type Json, SvcError } from "@svc/contract";
import type { Level, Pull } from "@svc/kit/hardware";
import { randomBytes } from "node:crypto";
import { type Link, type Parse, printable } from "../link/link.ts";
import { withDeadline } from "@svc/kit/async";
import type { CodeOutput, CodeRunner, Dialect, RunCodeOptions } from "./dialect.ts";

const CTRL_A = "\x01";
const CTRL_B = "\x02";
const CTRL_C = "\x03";
const CTRL_D = "\x04";
const BANNER = "raw REPL; CTRL-B to exit\r\n>";
const END = 0x04;

/**
 * Without flow control: as much as a small UART buffers, with time to take it. More of it, and bytes are lost. Then the code is sent again,
 * with the next pause.
 */
const PIECE_BYTES = 32;
const PIECE_PAUSES_MS = [10, 30, 90];
const SEND_MS = 30_000;
/** Until the board says that it has the end of the code. */
const ACKNOWLEDGEMENT_MS = 3000;
/** How long a program may take to end after Ctrl-C. */
const INTERRUPT_MS = 2000;
const MOST_ERROR_BYTES = 4096;
const MOST_PIN_OUTPUT_BYTES = 1024;

/** Undefined: the board does not run MicroPython. Interrupts the program that the board runs. */
export async function greetMicroPython(
  link: Link,
  { what, clock }: { readonly what: string; readonly clock: Clock },
  signal: AbortSignal,
): Promise<Dialect | undefined> {
  await link.write(`\r${CTRL_C}${CTRL_C}`);
  link.incoming.discard();
  await link.write(`\r${CTRL_A}`);
  await link.incoming.take(after(BANNER), signal);
  // A board that was starting answers earlier greetings now, too; behind this text nothing is left of them.
  const mark = randomBytes(8).toString("hex");
  await link.write(`print('${mark}')${CTRL_D}`);
  await link.incoming.take(after(`OK${mark}\r\n${CTRL_D}${CTRL_D}>`), signal);
  return new MicroPython(link, what, clock);
}

class MicroPython implements Dialect {
  readonly protocol = "micropython";
  isSettled = true;
  readonly code: CodeRunner = { run: (code, options) => this.#run(code, options) };
  readonly #link: Link;
  readonly #what: string;
  readonly #clock: Clock;
  /** Undefined: not asked yet. */
  #hasPasteMode: boolean | undefined;
  #isCircuitPython = false;

  constructor(link: Link, what: string, clock: Clock) {
    this.#link = link;
    this.#what = what;
    this.#clock = clock;
  }

  async describe(signal: AbortSignal): Promise<Json> {
    const lines = await this.#runShort(DESCRIBE, signal);
    const [name = "", version = "", machine = ""] = lines.split("\n").map(printable);
    return { implementation: name, version, machine, raw_paste_mode: this.#hasPasteMode === true };
  }

  async readPin(pin: number, pull: Pull | undefined, signal: AbortSignal): Promise<Level> {
    const printed = await this.#runPin(PIN_READERS, `_svc_read(${pin}, ${pull ? `'${pull}'` : "None"})`, pin, signal);
    if (printed === "1") return 1;
    if (printed === "0") return 0;
    throw new SvcError("BOARD_FAILED", `${this.#what} told no level of pin ${pin}.`);
  }

  async readAnalog(pin: number, signal: AbortSignal): Promise<number> {
    const value = Number(await this.#runPin(ANALOG_READERS, `_svc_analog(${pin})`, pin, signal));
    if (Number.isFinite(value)) return value;
    throw new SvcError("BOARD_FAILED", `${this.#what} told no number of pin ${pin}.`);
  }

  async writePin(pin: number, value: Level, signal: AbortSignal): Promise<void> {
    const printed = await this.#runPin(PIN_WRITERS, `_svc_write(${pin}, ${value})`, pin, signal);
    if (printed !== "done") throw new SvcError("BOARD_FAILED", `${this.#what} did not confirm pin ${pin}.`);
  }

  async release(): Promise<void> {
    await this.#link.write(`\r${CTRL_B}`);
  }

  /** CircuitPython is known by the modules that it does not have; nothing was done with the pin by then. */
  async #runPin(functions: PinFunctions, call: string, pin: number, signal: AbortSignal): Promise<string> {
    if (!this.#isCircuitPython) {
      try {
        return await this.#runShort(`${functions.machine}\n${call}`, signal, pin);
      } catch (error) {
        const { message } = error as Error;
        if (!message.includes("ImportError") || !message.includes("microbit")) throw error;
        this.#isCircuitPython = true;
      }
    }
    return await this.#runShort(`${functions.circuitPython}\n${call}`, signal, pin);
  }

  /** Code of ours, whose exceptions mean that the board has no such pin. */
  async #runShort(code: string, signal: AbortSignal, pin?: number): Promise<string> {
    const options = { timeoutMs: 5000, maxBytes: MOST_PIN_OUTPUT_BYTES, signal };
    const { output, error } = await this.#run(code, options);
    if (error === "") return output.toString("utf8").replaceAll("\r", "").trim();
    const reason = printable(error.trim().split("\n").at(-1) ?? "");
    if (pin !== undefined && /^(?:ValueError|AttributeError|KeyError)/.test(reason)) {
      throw new SvcError("TOOL_BAD_INPUT", `${this.#what} has no pin ${pin} for this (${reason}).`);
    }
    throw new SvcError("BOARD_FAILED", `${this.#what} could not do this: ${reason}`);
  }

  async #run(code: string, { timeoutMs, maxBytes, signal }: RunCodeOptions): Promise<CodeOutput> {
    const timeout = (): SvcError =>
      new SvcError(
        "BOARD_TIMEOUT",
        `The code ran longer than ${timeoutMs / 1000} s on ${this.#what} and was interrupted.`,
      );
    const unsent = (): SvcError => new SvcError("BOARD_TIMEOUT", `${this.#what} did not take the code.`);
    const bounds = { clock: this.#clock, signal };
    let isRunning = false;
    try {
      for (const pause of PIECE_PAUSES_MS) {
        this.isSettled = false;
        const mark = await withDeadline({ ...bounds, timeoutMs: SEND_MS, error: unsent }, (limited) =>
          this.#send(Buffer.from(code), pause, limited),
        );
        if (mark === undefined) continue;
        isRunning = true;
        const { output, ...rest } = await withDeadline({ ...bounds, timeoutMs, error: timeout }, (limited) =>
          this.#follow(mark.length + maxBytes, limited),
        );
        isRunning = false;
        this.isSettled = true;
        if (output.subarray(0, mark.length).equals(mark)) return { output: output.subarray(mark.length), ...rest };
      }
    } catch (error) {
      if (isRunning && !this.#link.incoming.hasEnded) await this.#interrupt();
      throw error;
    }
    throw new SvcError("BOARD_FAILED", `${this.#what} lost bytes of the code three times. Nothing of it ran.`, {
      hint: "Its serial line has no flow control, or the code is too large for its memory: send less, or write it to a file.",
    });
  }

  /**
   * Requests raw paste mode each time: the board's answer says which form it takes. Without it a line may lose bytes, and what is left may
   * be other code: the board then compares a checksum first. Resolves with what the board prints before the code begins; undefined: it did not
   * begin, as the end of the code was lost.
   */
  async #send(code: Buffer, pause: number, signal: AbortSignal): Promise<Buffer | undefined> {
    const { incoming } = this.#link;
    if (this.#hasPasteMode !== false) {
      await this.#link.write(`\x05A${CTRL_A}`);
      const answer = await incoming.take(exactly(2), signal);
      if (answer.equals(Buffer.from("R\x01"))) {
        this.#hasPasteMode = true;
        await this.#paste(code, signal);
        return Buffer.alloc(0);
      }
      this.#hasPasteMode = false;
      // Firmware that does not know it takes the bytes for code, and begins the raw REPL again with the last one.
      if (!answer.equals(Buffer.from("R\x00"))) await incoming.take(after("w REPL; CTRL-B to exit\r\n>"), signal);
    }
    const sum = checksum(code);
    const checked = Buffer.from(`_svc_code=${literal(code)}
_svc_sum=0
for _svc_byte in _svc_code:_svc_sum=(_svc_sum*31+_svc_byte)&0xffffff
if _svc_sum!=${sum}:raise ValueError('lost bytes')
print('svc ${sum}')
exec(_svc_code)`);
    for (let at = 0; at < checked.length; at += PIECE_BYTES) {
      await this.#link.write(checked.subarray(at, at + PIECE_BYTES));
      await this.#clock.sleep(pause, signal);
    }
    await this.#link.write(CTRL_D);
    const answer = await this.#acknowledgement(signal);
    if (answer === undefined) return undefined;
    if (answer.equals(Buffer.from("OK"))) return Buffer.from(`svc ${sum}\r\n`);
    throw new SvcError("BOARD_FAILED", `${this.#what} did not take the code.`);
  }

  /** Undefined: none came, and the board has forgotten the code. Rejects where the board began the code after all. */
  async #acknowledgement(signal: AbortSignal): Promise<Buffer | undefined> {
    const { incoming } = this.#link;
    const silence = new SvcError("BOARD_TIMEOUT", `${this.#what} did not take the code in time. It may have run.`);
    const bounds = { clock: this.#clock, timeoutMs: ACKNOWLEDGEMENT_MS, signal, error: () => silence };
    try {
      return await withDeadline(bounds, (limited) => incoming.take(exactly(2), limited));
    } catch (error) {
      if (error !== silence) throw error;
    }
    // Ctrl-C clears a line that was not ended, and interrupts code that runs.
    const mark = randomBytes(8).toString("hex");
    await this.#link.write(`${CTRL_C}print('${mark}')${CTRL_D}`);
    const answer = await incoming.take(upTo(`OK${mark}\r\n${CTRL_D}${CTRL_D}>`), signal);
    if (answer.includes("OK")) throw silence;
    return undefined;
  }

  async #paste(code: Buffer, signal: AbortSignal): Promise<void> {
    const { incoming } = this.#link;
    const window = (await incoming.take(exactly(2), signal)).readUInt16LE();
    if (window === 0) throw new SvcError("BOARD_FAILED", `${this.#what} offered no room for code.`);
    let room = window;
    for (let at = 0; at < code.length;) {
      if (room === 0) {
        const [flow] = await incoming.take(exactly(1), signal);
        if (flow === 0x01) {
          room += window;
          continue;
        }
        if (flow !== END) throw new SvcError("BOARD_FAILED", `${this.#what} broke the flow control of raw paste mode.`);
        // The board takes no more, such as after an error in the code; why is in its answer.
        return await this.#link.write(CTRL_D);
      }
      const piece = code.subarray(at, at + room);
      await this.#link.write(piece);
      at += piece.length;
      room -= piece.length;
    }
    await this.#link.write(CTRL_D);
    // More room may be offered while the last piece is taken.
    await incoming.take(after(CTRL_D), signal);
  }

  async #follow(maxBytes: number, signal: AbortSignal): Promise<CodeOutput> {
    const output = await this.#until(END, maxBytes, signal);
    const error = await this.#until(END, MOST_ERROR_BYTES, signal);
    await this.#link.incoming.take(after(">"), signal);
    return { output: output.bytes, isCut: output.isCut, error: error.bytes.toString("utf8") };
  }

  /** Reads to the mark; drops bytes beyond `maxBytes`. */
  async #until(mark: number, maxBytes: number, signal: AbortSignal): Promise<{ bytes: Buffer; isCut: boolean }> {
    const chunks: Buffer[] = [];
    let left = maxBytes;
    let isCut = false;
    for (;;) {
      const piece = await this.#link.incoming.take((bytes) => {
        if (bytes.length === 0) return undefined;
        const end = bytes.indexOf(mark);
        const text = end < 0 ? bytes : bytes.subarray(0, end);
        return { value: { text: Buffer.from(text), isLast: end >= 0 }, used: end < 0 ? bytes.length : end + 1 };
      }, signal);
      isCut ||= piece.text.length > left;
      chunks.push(piece.text.subarray(0, left));
      left -= Math.min(left, piece.text.length);
      if (piece.isLast) return { bytes: Buffer.concat(chunks), isCut };
    }
  }

  /** Afterwards the board takes the next code, or the connection ends. */
  async #interrupt(): Promise<void> {
    const error = (): SvcError => new SvcError("BOARD_TIMEOUT", `${this.#what} does not answer.`);
    try {
      await withDeadline({ clock: this.#clock, timeoutMs: INTERRUPT_MS, error }, async (limited) => {
        await this.#link.write(CTRL_C);
        await this.#follow(0, limited);
      });
      this.isSettled = true;
    } catch {
      // Not settled.
    }
  }
}

/** The bytes up to the text and with it are taken. */
const after = (text: string): Parse<true> => {
  const wanted = Buffer.from(text, "latin1");
  return (bytes) => {
    const at = bytes.indexOf(wanted);
    return at < 0 ? undefined : { value: true, used: at + wanted.length };
  };
};

/** The bytes before the text. Takes it with them. */
const upTo = (text: string): Parse<Buffer> => {
  const wanted = Buffer.from(text, "latin1");
  return (bytes) => {
    const at = bytes.indexOf(wanted);
    return at < 0 ? undefined : { value: Buffer.from(bytes.subarray(0, at)), used: at + wanted.length };
  };
};

const exactly =
  (length: number): Parse<Buffer> =>
  (bytes) =>
    bytes.length < length ? undefined : { value: Buffer.from(bytes.subarray(0, length)), used: length };

/** Small enough at each step for the small integers of a board. */
export const checksum = (content: Buffer): number => content.reduce((sum, byte) => (sum * 31 + byte) & 0xffffff, 0);

/** Bytes as Python writes them; nothing in it ends the code early. */
export const literal = (bytes: Buffer): string =>
  `b'${[...bytes].map((byte) => (byte >= 0x20 && byte < 0x7f && byte !== 0x27 && byte !== 0x5c ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`)).join("")}'`;

const DESCRIBE = `import sys
print(getattr(sys.implementation, 'name', ''))
print('.'.join(str(part) for part in sys.implementation.version[:3]))
try:
    import os
    print(os.uname().machine)
except (ImportError, AttributeError):
    print(sys.platform)`;

/**
 * Code that runs on a board, for its pins: each text defines `_svc_read(n, pull)`, `_svc_write(n, value)` or `_svc_analog(n)`, which prints
 * its answer.
 */
interface PinFunctions {
  readonly machine: string;
  readonly circuitPython: string;
}

/** Boards with `machine.Pin` (Pico, ESP32 …), else the micro:bit with its own pin API. Reading an output leaves it an output. */
const READ_MACHINE_PIN = `def _svc_read(n, pull):
    try:
        from machine import Pin
    except ImportError:
        import microbit
        p = getattr(microbit, 'pin%d' % n)
        if pull is not None:
            p.set_pull({'up': p.PULL_UP, 'down': p.PULL_DOWN, 'none': p.NO_PULL}[pull])
        print(p.read_digital())
        return
    if pull is None:
        p = Pin(n)
    else:
        p = Pin(n, Pin.IN, {'up': Pin.PULL_UP, 'down': getattr(Pin, 'PULL_DOWN', 0), 'none': None}[pull])
    print(p.value())`;

const WRITE_MACHINE_PIN = `def _svc_write(n, value):
    try:
        from machine import Pin
    except ImportError:
        import microbit
        getattr(microbit, 'pin%d' % n).write_digital(value)
    else:
        Pin(n, Pin.OUT).value(value)
    print('done')`;

const READ_MACHINE_ANALOG = `def _svc_analog(n):
    try:
        from machine import ADC, Pin
    except ImportError:
        import microbit
        print(getattr(microbit, 'pin%d' % n).read_analog())
        return
    print(ADC(Pin(n)).read_u16())`;

/**
 * CircuitPython has no pins by number: they are attributes of modules, by their names on the chip or on the board. A pin that is in use is
 * held by its object, which keeps its level until it is read as an input.
 */
const CIRCUIT_PYTHON_PINS = `import digitalio
try:
    _svc_pins
except NameError:
    _svc_pins = {}
def _svc_pin(n):
    import microcontroller
    for name in ('GPIO%d' % n, 'IO%d' % n):
        if hasattr(microcontroller.pin, name):
            return getattr(microcontroller.pin, name)
    import board
    for name in ('GP%d' % n, 'IO%d' % n, 'D%d' % n):
        if hasattr(board, name):
            return getattr(board, name)
    raise ValueError('no pin %d' % n)
def _svc_open(n):
    if n in _svc_pins:
        _svc_pins.pop(n).deinit()
    return digitalio.DigitalInOut(_svc_pin(n))`;

const READ_CIRCUIT_PYTHON_PIN = `${CIRCUIT_PYTHON_PINS}
def _svc_read(n, pull):
    if n in _svc_pins and pull is None:
        print(int(_svc_pins[n].value))
        return
    p = _svc_open(n)
    try:
        p.switch_to_input({'up': digitalio.Pull.UP, 'down': digitalio.Pull.DOWN}.get(pull))
        print(int(p.value))
    finally:
        p.deinit()`;

const WRITE_CIRCUIT_PYTHON_PIN = `${CIRCUIT_PYTHON_PINS}
def _svc_write(n, value):
    if n in _svc_pins:
        _svc_pins[n].value = bool(value)
    else:
        p = _svc_open(n)
        p.switch_to_output(bool(value))
        _svc_pins[n] = p
    print('done')`;

export const PIN_READERS: PinFunctions = { machine: READ_MACHINE_PIN, circuitPython: READ_CIRCUIT_PYTHON_PIN };
export const PIN_WRITERS: PinFunctions = { machine: WRITE_MACHINE_PIN, circuitPython: WRITE_CIRCUIT_PYTHON_PIN };

const READ_CIRCUIT_PYTHON_ANALOG = `${CIRCUIT_PYTHON_PINS}
def _svc_analog(n):
    import analogio
    if n in _svc_pins:
        _svc_pins.pop(n).deinit()
    p = analogio.AnalogIn(_svc_pin(n))
    try:
        print(p.value)
    finally:
        p.deinit()`;

export const ANALOG_READERS: PinFunctions = {
  machine: READ_MACHINE_ANALOG,
  circuitPython: READ_CIRCUIT_PYTHON_ANALOG,
};
