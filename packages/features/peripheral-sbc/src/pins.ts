/** The pins of the board, each with what svc has made of it. */
import { type Clock, SvcError } from "@svc/contract";
import type { Level, PinWatch } from "@svc/kit/hardware";
import { type Board, LAST_PIN } from "./board.ts";
import type { Bias, Chip, Line } from "./chip.ts";

/** Interval for reading changes that the kernel has buffered. */
const LOOK_MS = 50;

interface Output {
  readonly line: Line;
  value: 0 | 1;
}

export class Pins {
  readonly #root: string;
  readonly #board: Board;
  #chip: Promise<Chip> | undefined;
  /** Held, so that they keep their level. */
  readonly #outputs = new Map<number, Output>();
  /** Held for as long as they are watched. */
  readonly #watched = new Map<number, Line>();
  readonly #clock: Clock;
  readonly #closing = new AbortController();

  constructor(root: string, board: Board, clock: Clock) {
    this.#root = root;
    this.#board = board;
    this.#clock = clock;
  }

  /** Throws TOOL_BAD_INPUT, TOOL_FAILED. */
  async write(pin: number, value: 0 | 1): Promise<void> {
    const chip = await this.#ready(pin);
    if (this.#watched.has(pin)) throw watchedFailure(pin);
    const output = this.#outputs.get(pin);
    if (output) {
      output.line.set(value);
      output.value = value;
    } else this.#outputs.set(pin, { line: chip.request(pin, { direction: "output", value }), value });
  }

  /** An output stays one, and `pull` is refused then. Throws as `write`. */
  async read(pin: number, pull: Bias | undefined): Promise<{ readonly value: 0 | 1; readonly isOutput: boolean }> {
    const chip = await this.#ready(pin);
    const watched = this.#watched.get(pin);
    if (watched && pull !== undefined) throw watchedFailure(pin);
    if (watched) return { value: watched.get(), isOutput: false };
    const output = this.#outputs.get(pin);
    if (output && pull === undefined) return { value: output.line.get(), isOutput: true };
    if (output) {
      output.line.close();
      this.#outputs.delete(pin);
    }
    // As it is where nothing is asked for: an input of another kind, such as that of I2C, would end to be one.
    const line = chip.request(pin, pull ? { direction: "input", bias: pull } : { direction: "as-is" });
    try {
      return { value: line.get(), isOutput: false };
    } finally {
      line.close();
    }
  }

  /** `NativePins.watchPin`. */
  async *watch(
    { pin, debounceMs, pull }: Pick<PinWatch, "pin" | "debounceMs" | "pull">,
    signal: AbortSignal,
  ): AsyncGenerator<Level> {
    const chip = await this.#ready(pin);
    if (this.#watched.has(pin) || this.#outputs.has(pin))
      throw new SvcError("TOOL_FAILED", `GPIO ${pin} is in use already.`);
    const line = chip.request(pin, { direction: "input", debounceMs, ...(pull !== undefined && { bias: pull }) });
    this.#watched.set(pin, line);
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    try {
      yield line.get();
      while (!ended.aborted) {
        yield* line.changes();
        await this.#clock.sleep(LOOK_MS, ended).catch(() => undefined);
      }
    } finally {
      this.#watched.delete(pin);
      line.close();
    }
  }

  close(): void {
    this.#closing.abort();
    for (const { line } of this.#outputs.values()) line.close();
    this.#outputs.clear();
    void this.#chip?.then((chip) => chip.close()).catch(() => undefined);
    this.#chip = undefined;
  }

  async #ready(pin: number): Promise<Chip> {
    if (this.#closing.signal.aborted) throw new SvcError("TOOL_FAILED", "The feature is shut down.");
    this.#chip ??= import("./chip.ts").then(({ Chip }) => Chip.open(this.#root, this.#board.chip));
    try {
      const chip = await this.#chip;
      if (pin > LAST_PIN) this.#checkLed(chip, pin);
      return chip;
    } catch (error) {
      if (error instanceof SvcError && error.code === "TOOL_FAILED") this.#chip = undefined;
      throw error;
    }
  }

  /** Behind the header only the LED, and only where the kernel calls the line one: next to it are those of the SD card. */
  #checkLed(chip: Chip, pin: number): void {
    if (pin === this.#board.led && /led/i.test(chip.info(pin).name)) return;
    throw new SvcError("TOOL_BAD_INPUT", `GPIO ${pin} is not on the header. Pins are GPIO 0 to ${LAST_PIN}.`);
  }
}

const watchedFailure = (pin: number): SvcError =>
  new SvcError("TOOL_FAILED", `GPIO ${pin} is watched for procedures.`, {
    hint: "Choose another pin, or remove it from watch in [[peripherals.boards]].",
  });
