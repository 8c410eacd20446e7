/** Firmata 2.5 and later, as StandardFirmata speaks it: https://github.com/firmata/protocol. */
import { type Json, SvcError } from "@svc/contract";
import type { Level, Pull } from "@svc/kit/hardware";
import { type Link, type Parse, printable } from "../link/link.ts";
import type { Dialect } from "./dialect.ts";

const START_SYSEX = 0xf0;
const END_SYSEX = 0xf7;
const REPORT_FIRMWARE = 0x79;
const ANALOG_MAPPING_QUERY = 0x69;
const ANALOG_MAPPING_RESPONSE = 0x6a;
const CAPABILITY_QUERY = 0x6b;
const CAPABILITY_RESPONSE = 0x6c;
const PIN_STATE_QUERY = 0x6d;
const PIN_STATE_RESPONSE = 0x6e;
const SET_PIN_MODE = 0xf4;
const SET_PIN_VALUE = 0xf5;
const REPORT_PORT = 0xd0;
const PORT_MESSAGE = 0x90;
const REPORT_ANALOG = 0xc0;
const ANALOG_MESSAGE = 0xe0;
/** That have a message of their own. */
const ANALOG_CHANNELS = 16;

const INPUT = 0x00;
const OUTPUT = 0x01;
const ANALOG = 0x02;
const PULLUP = 0x0b;

const LONGEST_SYSEX = 4096;

/** Undefined: the board does not speak Firmata. */
export async function greetFirmata(link: Link, what: string, signal: AbortSignal): Promise<Dialect | undefined> {
  await link.write(Uint8Array.of(START_SYSEX, REPORT_FIRMWARE, END_SYSEX));
  const [major = 0, minor = 0, ...name] = await link.incoming.take(sysex(REPORT_FIRMWARE), signal);
  return new Firmata(link, what, { version: `${major}.${minor}`, name: printable(textOf(name)) });
}

interface Firmware {
  readonly version: string;
  readonly name: string;
}

class Firmata implements Dialect {
  readonly protocol = "firmata";
  isSettled = true;
  readonly #link: Link;
  readonly #what: string;
  readonly #firmware: Firmware;
  /** Modes by pin; asked for once. */
  #modes: readonly ReadonlySet<number>[] | undefined;

  constructor(link: Link, what: string, firmware: Firmware) {
    this.#link = link;
    this.#what = what;
    this.#firmware = firmware;
  }

  async describe(signal: AbortSignal): Promise<Json> {
    return await this.#exchange(async () => {
      const modes = await this.#capabilities(signal);
      const pins = (mode: number): number[] => modes.flatMap((set, pin) => (set.has(mode) ? [pin] : []));
      return {
        firmware: this.#firmware.name,
        version: this.#firmware.version,
        pins: { input: pins(INPUT), output: pins(OUTPUT), pull_up: pins(PULLUP) },
      };
    });
  }

  async writePin(pin: number, value: Level, signal: AbortSignal): Promise<void> {
    await this.#exchange(async () => {
      await this.#demand(pin, OUTPUT, signal);
      await this.#link.write(Uint8Array.of(SET_PIN_MODE, pin, OUTPUT, SET_PIN_VALUE, pin, value));
      // Firmata confirms nothing by itself.
      const { mode, state } = await this.#stateOf(pin, signal);
      if (mode === OUTPUT && state === value) return;
      throw new SvcError("BOARD_FAILED", `${this.#what} did not set pin ${pin}; its Firmata may be older than 2.5.`);
    });
  }

  async readPin(pin: number, pull: Pull | undefined, signal: AbortSignal): Promise<Level> {
    return await this.#exchange(async () => {
      await this.#demand(pin, pull === "up" ? PULLUP : INPUT, signal);
      if (pull === "down") {
        throw new SvcError("TOOL_BAD_INPUT", `${this.#what} has no pull-down resistors; use up or none.`);
      }
      const { mode, state } = await this.#stateOf(pin, signal);
      if (pull === undefined && mode === OUTPUT) return state === 0 ? 0 : 1;
      const wanted = pull === "up" ? PULLUP : INPUT;
      if (pull !== undefined || (mode !== INPUT && mode !== PULLUP)) {
        await this.#link.write(Uint8Array.of(SET_PIN_MODE, pin, wanted));
      }
      const port = pin >> 3;
      // Turning the report of a port on sends its state at once.
      await this.#link.write(Uint8Array.of(REPORT_PORT | port, 1));
      const bits = await this.#link.incoming.take(twoBytesAfter(PORT_MESSAGE | port), signal);
      await this.#link.write(Uint8Array.of(REPORT_PORT | port, 0));
      return ((bits >> (pin & 7)) & 1) as Level;
    });
  }

  async readAnalog(pin: number, signal: AbortSignal): Promise<number> {
    return await this.#exchange(async () => {
      await this.#demand(pin, ANALOG, signal);
      await this.#link.write(Uint8Array.of(START_SYSEX, ANALOG_MAPPING_QUERY, END_SYSEX));
      const channel = (await this.#link.incoming.take(sysex(ANALOG_MAPPING_RESPONSE), signal))[pin] ?? 127;
      if (channel >= ANALOG_CHANNELS) {
        throw new SvcError("TOOL_BAD_INPUT", `Pin ${pin} of ${this.#what} is no analog input of its firmware.`);
      }
      await this.#link.write(Uint8Array.of(SET_PIN_MODE, pin, ANALOG, REPORT_ANALOG | channel, 1));
      const value = await this.#link.incoming.take(twoBytesAfter(ANALOG_MESSAGE | channel), signal);
      await this.#link.write(Uint8Array.of(REPORT_ANALOG | channel, 0));
      return value;
    });
  }

  /** What the board refuses leaves it settled; what ends in the middle does not. */
  async #exchange<T>(work: () => Promise<T>): Promise<T> {
    this.#link.incoming.discard();
    this.isSettled = false;
    try {
      const result = await work();
      this.isSettled = true;
      return result;
    } catch (error) {
      this.isSettled = error instanceof SvcError && (error.code === "TOOL_BAD_INPUT" || error.code === "BOARD_FAILED");
      throw error;
    }
  }

  async #demand(pin: number, mode: number, signal: AbortSignal): Promise<void> {
    const modes = await this.#capabilities(signal);
    if (pin < 128 && modes[pin]?.has(mode)) return;
    const offered = modes.flatMap((set, number) => (set.has(mode) ? [number] : []));
    throw new SvcError(
      "TOOL_BAD_INPUT",
      `Pin ${pin} of ${this.#what} can't be used for this. Pins that can: ${offered.join(", ") || "none"}.`,
    );
  }

  async #capabilities(signal: AbortSignal): Promise<readonly ReadonlySet<number>[]> {
    if (this.#modes) return this.#modes;
    await this.#link.write(Uint8Array.of(START_SYSEX, CAPABILITY_QUERY, END_SYSEX));
    const bytes = await this.#link.incoming.take(sysex(CAPABILITY_RESPONSE), signal);
    const pins: Set<number>[] = [];
    let modes = new Set<number>();
    for (let at = 0; at < bytes.length; at += 1) {
      if (bytes[at] === 0x7f) {
        pins.push(modes);
        modes = new Set();
      } else {
        modes.add(bytes[at]!);
        at += 1; // its resolution
      }
    }
    return (this.#modes = pins);
  }

  async #stateOf(pin: number, signal: AbortSignal): Promise<{ readonly mode: number; readonly state: number }> {
    await this.#link.write(Uint8Array.of(START_SYSEX, PIN_STATE_QUERY, pin, END_SYSEX));
    for (;;) {
      const [answered, mode = -1, ...state] = await this.#link.incoming.take(sysex(PIN_STATE_RESPONSE), signal);
      if (answered === pin) return { mode, state: state.reduce((sum, byte, index) => sum + (byte << (7 * index)), 0) };
    }
  }
}

/** The payload of the next message of this kind; what comes before it is dropped. */
const sysex =
  (kind: number): Parse<readonly number[]> =>
  (bytes) => {
    for (let start = bytes.indexOf(START_SYSEX); start >= 0; start = bytes.indexOf(START_SYSEX, start + 1)) {
      if (bytes[start + 1] !== kind) continue;
      const end = bytes.indexOf(END_SYSEX, start);
      if (end >= 0) return { value: [...bytes.subarray(start + 2, end)], used: end + 1 };
      break;
    }
    if (bytes.length > LONGEST_SYSEX) throw new SvcError("BOARD_FAILED", "The board answers, but not in Firmata.");
    return undefined;
  };

/** The 14 bits of the next message of this kind. */
const twoBytesAfter =
  (kind: number): Parse<number> =>
  (bytes) => {
    for (let at = bytes.indexOf(kind); at >= 0; at = bytes.indexOf(kind, at + 1)) {
      const [low, high] = [bytes[at + 1], bytes[at + 2]];
      if (low === undefined || high === undefined) return undefined;
      if (low < 0x80 && high < 0x80) return { value: low | (high << 7), used: at + 3 };
    }
    if (bytes.length > LONGEST_SYSEX) throw new SvcError("BOARD_FAILED", "The board answers, but not in Firmata.");
    return undefined;
  };

/** Texts are sent as two bytes of seven bits for each character. */
const textOf = (bytes: readonly number[]): string => {
  let text = "";
  for (let at = 0; at + 1 < bytes.length; at += 2) text += String.fromCharCode(bytes[at]! | (bytes[at + 1]! << 7));
  return text;
};
