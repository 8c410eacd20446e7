import { type Clock, defineTool, integer, SvcError, type Tool } from "@svc/contract";
import * as v from "valibot";
import type { Board } from "./board.ts";
import { readFacts } from "./facts.ts";
import type { Pins } from "./pins.ts";

const MOST_TIMES = 100;
const LONGEST_MS = 10_000;
/** A turn waits for it. */
const LONGEST_BLINK_MS = 120_000;

const pin = v.pipe(integer(0, 57), v.description("BCM number of the pin: 0 to 27 of the header."));
const duration = (what: string) =>
  v.optional(v.pipe(integer(1, LONGEST_MS), v.description(`Milliseconds that it is ${what}.`)), 500);

export interface ToolParts {
  readonly root: string;
  readonly board: Board;
  readonly pins: Pins;
  readonly clock: Clock;
}

export const toolsOf = ({ root, board, pins, clock }: ToolParts): Tool[] => [
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
