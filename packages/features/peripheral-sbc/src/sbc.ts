/** The feature: identifies the board, describes it to the model, and contributes the tools for its pins. */
import {
  type Clock,
  type Contributions,
  type FeatureContext,
  type FeatureModule,
  SvcError,
  type Tool,
  defineTool,
  integer,
  provide,
} from "@svc/contract";
import { type Level, NATIVE_PINS, type PinWatch } from "@svc/kit/hardware";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { freemem, networkInterfaces, totalmem, uptime } from "node:os";
import type { Bias, Chip, Line } from "./chip.ts";

/** Maximum age of the description for the model. */
const REFRESH_MS = 60_000;

/** `root`: of the file system, another one in tests. */
export const sbcOf = (root: string): Required<FeatureModule> => ({
  survey: async () => (await readModel(root)) ?? null,
  create(context) {
    const board = typeof context.survey === "string" ? boardOf(context.survey) : undefined;
    return board ? contributionsOf(root, board, context) : {};
  },
});

export const { survey, create } = sbcOf("/");

function contributionsOf(root: string, board: Board, { clock, homeFolder, log }: FeatureContext): Contributions {
  const pins = new Pins(root, board, clock);
  let facts: Facts | undefined;
  return {
    provides: [
      provide(NATIVE_PINS, {
        alias: "rpi0",
        board: board.name,
        readPin: async (pin, { pull }) => (await pins.read(pin, pull)).value,
        writePin: (pin, value) => pins.write(pin, value),
        watchPin: (watch, signal) => pins.watch(watch, signal),
      }),
    ],
    tools: toolsOf({ root, board, pins, clock }),
    promptContext: () => (facts ? promptText(facts) : ""),
    async register() {
      facts = await readFacts(root, board);
      await writeProfile(homeFolder, profileText(board, facts)).catch((error: unknown) =>
        log.warn("could not write the profile of the board", { code: String((error as { code?: unknown }).code) }),
      );
    },
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(REFRESH_MS, signal).catch(() => undefined);
        if (!signal.aborted) facts = await readFacts(root, board);
      }
    },
    async shutdown() {
      pins.close();
    },
  };
}

async function writeProfile(homeFolder: string, text: string): Promise<void> {
  const folder = join(homeFolder, "hardware", "devices");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.rpi0.md.${process.pid}`);
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, join(folder, "rpi0.md"));
}

const MOST_TIMES = 100;
const LONGEST_MS = 10_000;
/** A turn waits for it. */
const LONGEST_BLINK_MS = 120_000;

const pin = v.pipe(integer(0, 57), v.description("BCM number of the pin: 0 to 27 of the header."));
const duration = (what: string) =>
  v.optional(v.pipe(integer(1, LONGEST_MS), v.description(`Milliseconds that it is ${what}.`)), 500);

interface ToolDeps {
  readonly root: string;
  readonly board: Board;
  readonly pins: Pins;
  readonly clock: Clock;
}

const toolsOf = ({ root, board, pins, clock }: ToolDeps): Tool[] => [
  defineTool({
    name: "gpio_rpi_write",
    description:
      "Sets a GPIO pin of this Raspberry Pi HIGH (1) or LOW (0). The pin becomes an output and keeps its level until it is read with " +
      "a pull, or svc stops.",
    input: v.strictObject({ pin, value: v.pipe(v.picklist([0, 1]), v.description("1 for HIGH, 0 for LOW.")) }),
    approval: "ask",
    lasting: Object.freeze({}),
    async run({ pin, value }, { signal }) {
      signal.throwIfAborted();
      await pins.write(pin, value);
      return `GPIO ${pin} set ${levelOf(value)} on rpi0`;
    },
  }),
  defineTool({
    name: "gpio_rpi_read",
    description:
      "Reads the level of a GPIO pin of this Raspberry Pi. With pull the pin becomes an input with that resistor; without it, an input " +
      "stays as it is and an output of gpio_rpi_write stays one.",
    input: v.strictObject({
      pin,
      pull: v.optional(v.pipe(v.picklist(["up", "down", "none"]), v.description("Pull resistor of the input."))),
    }),
    approval: "auto",
    async run({ pin, pull }, { signal }) {
      signal.throwIfAborted();
      const { value, isOutput } = await pins.read(pin, pull);
      return `GPIO ${pin} is ${levelOf(value)} (${value}) on rpi0${isOutput ? ", an output" : ""}`;
    },
  }),
  defineTool({
    name: "gpio_rpi_blink",
    description: "Switches a GPIO pin of this Raspberry Pi on and off several times; it is LOW at the end.",
    input: v.strictObject({
      pin,
      times: v.optional(v.pipe(integer(1, MOST_TIMES), v.description(`At most ${MOST_TIMES}.`)), 3),
      on_ms: duration("HIGH"),
      off_ms: duration("LOW"),
    }),
    approval: "ask",
    lasting: Object.freeze({}),
    async run({ pin, times, on_ms, off_ms }, { signal }) {
      const totalMs = times * (on_ms + off_ms);
      if (totalMs > LONGEST_BLINK_MS) {
        throw new SvcError(
          "TOOL_BAD_INPUT",
          `That would take ${Math.ceil(totalMs / 1000)} s; at most 120 s are possible.`,
        );
      }
      signal.throwIfAborted();
      try {
        for (let count = 0; count < times; count += 1) {
          await pins.write(pin, 1);
          await clock.sleep(on_ms, signal);
          await pins.write(pin, 0);
          await clock.sleep(off_ms, signal);
        }
      } catch (error) {
        // The pin must not stay HIGH, also after an error or an abort.
        await pins.write(pin, 0).catch(() => undefined);
        throw error;
      }
      return `GPIO ${pin} blinked ${times} times on rpi0`;
    },
  }),
  defineTool({
    name: "rpi_system_info",
    description: "Tells the model, network addresses, memory, CPU temperature and uptime of this Raspberry Pi.",
    input: v.strictObject({}),
    approval: "auto",
    async run(_input, { signal }) {
      signal.throwIfAborted();
      const facts = await readFacts(root, board);
      return {
        device: "rpi0",
        model: facts.model,
        addresses: [...facts.addresses],
        memory_mb: facts.memoryMb,
        free_memory_mb: facts.freeMemoryMb,
        cpu_temperature_c: facts.temperature ?? null,
        uptime_secs: facts.uptimeSecs,
        act_led: board.ledText,
      };
    },
  }),
];

const levelOf = (value: 0 | 1): string => (value === 1 ? "HIGH" : "LOW");

/** What the board can say of itself now. */
interface Facts {
  readonly model: string;
  /** Without loopback and link-local ones. */
  readonly addresses: readonly string[];
  readonly memoryMb: number;
  readonly freeMemoryMb: number;
  /** Undefined: the kernel does not tell. */
  readonly temperature: number | undefined;
  readonly uptimeSecs: number;
}

async function readFacts(root: string, { model }: Board): Promise<Facts> {
  const text = await readFile(join(root, "sys/class/thermal/thermal_zone0/temp"), "utf8").catch(() => "");
  const milliDegrees = /^-?\d+$/.test(text.trim()) ? Number(text) : undefined;
  return {
    model,
    addresses: Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, address }) => !internal && !/^(?:fe80:|169\.254\.)/i.test(address))
      .map(({ address }) => address)
      .slice(0, 8),
    memoryMb: Math.round(totalmem() / 1_048_576),
    freeMemoryMb: Math.round(freemem() / 1_048_576),
    temperature: milliDegrees === undefined ? undefined : Math.round(milliDegrees / 100) / 10,
    uptimeSecs: Math.floor(uptime()),
  };
}

const RULES = `GPIO rules: pins are BCM numbers, GPIO 0 to 27 of the 40-pin header. Levels are 3.3 V; a pin gives at most 16 mA, so an LED needs a
resistor. GPIO 0 and 1 are reserved for the EEPROM of HATs, 2 and 3 are I2C with pull-ups, 14 and 15 the serial console. Read a pin
before you write to one that may be wired to an output. Ask before you switch anything that moves, heats or locks.`;

/** For the system prompt. */
function promptText({ model, addresses, memoryMb, temperature }: Facts): string {
  const at = addresses.length === 0 ? "no network address" : addresses.join(", ");
  const degrees = temperature === undefined ? "" : `, CPU at ${temperature.toFixed(1)} °C`;
  return `This service runs on a ${model} (rpi0): ${at}, ${memoryMb} MB RAM${degrees}.\n${RULES}`;
}

/** `rpi0.md`. */
const profileText = (board: Board, facts: Facts): string => `# rpi0

<!-- Written by svc at each start. -->

| Fact         | Value                                              |
| ------------ | -------------------------------------------------- |
| Model        | ${board.model} |
| Architecture | ${process.arch} |
| RAM          | ${facts.memoryMb} MB |
| Addresses    | ${facts.addresses.join(", ") || "none"} |
| GPIO         | controller ${board.chip}, GPIO 0 to 27 |
| ACT LED      | ${board.ledText} |

${RULES}

Tools: \`gpio_rpi_write\`, \`gpio_rpi_read\`, \`gpio_rpi_blink\`, \`rpi_system_info\`.
`;

// The pins of the board, each with what svc has made of it.

/** Interval for reading changes that the kernel has buffered. */
const LOOK_MS = 50;

interface Output {
  readonly line: Line;
  value: 0 | 1;
}

class Pins {
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

// Which board this is, by the device tree that its kernel was started with.

interface Board {
  /** As the device tree says, with the revision. */
  readonly model: string;
  /** As other boards are called, e.g. `raspberry-pi-4`. */
  readonly name: string;
  /** Label of the GPIO controller that has the pins of the header. */
  readonly chip: string;
  /** Line of the green LED. Undefined: it is on another controller. */
  readonly led: number | undefined;
  /** For a person. */
  readonly ledText: string;
}

/** Last pin of the 40-pin header; the lines behind it belong to the SD card, the radio and the LEDs. */
const LAST_PIN = 27;

interface Family extends Omit<Board, "model"> {
  readonly form: RegExp;
}

/**
 * Labels are those of the drivers `pinctrl-bcm2835` and `pinctrl-rp1` of the kernel. On the Pi 5 the LED is line 9 of a controller of its
 * own, and GPIO 9 of the header is another pin.
 */
const FAMILIES: readonly Family[] = [
  {
    form: /^Raspberry Pi 3 Model B(?: Rev|$)/,
    name: "raspberry-pi-3",
    chip: "pinctrl-bcm2835",
    led: 47,
    ledText: "GPIO 47",
  },
  {
    form: /^Raspberry Pi 3 Model B Plus(?: |$)/,
    name: "raspberry-pi-3",
    chip: "pinctrl-bcm2835",
    led: 47,
    ledText: "GPIO 47",
  },
  {
    form: /^Raspberry Pi 4 Model B(?: |$)/,
    name: "raspberry-pi-4",
    chip: "pinctrl-bcm2711",
    led: 42,
    ledText: "GPIO 42",
  },
  {
    form: /^Raspberry Pi 5(?: |$)/,
    name: "raspberry-pi-5",
    chip: "pinctrl-rp1",
    led: undefined,
    ledText: "GPIO 9 of a controller of its own, not of the header",
  },
  {
    form: /^Raspberry Pi Zero 2 W(?: |$)/,
    name: "raspberry-pi-zero-2",
    chip: "pinctrl-bcm2835",
    led: 29,
    ledText: "GPIO 29",
  },
];

/** Undefined for everything but the boards above. */
export function boardOf(model: string): Board | undefined {
  const family = FAMILIES.find(({ form }) => form.test(model));
  if (!family) return undefined;
  const { name, chip, led, ledText } = family;
  return { model, name, chip, led, ledText };
}

/** The model from the device tree; undefined without one. `root`: of the file system. */
async function readModel(root: string): Promise<string | undefined> {
  const read = (path: string): Promise<string> => readFile(join(root, path), "utf8");
  // The first is a link to the second, which a kernel without /proc/device-tree has too.
  const text = await read("proc/device-tree/model").catch(() =>
    read("sys/firmware/devicetree/base/model").catch(() => undefined),
  );
  // A property of the device tree ends with NUL.
  const model = text?.replaceAll(/[\0\p{Cc}]/gu, "").trim();
  return model === undefined || model === "" ? undefined : model.slice(0, 100);
}
