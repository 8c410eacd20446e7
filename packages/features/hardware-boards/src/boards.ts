/** Tools for facts about a configured board: static data, and readings of a debug probe if one is connected. */
import { type Contributions, defineTool, type FeatureContext, type Json, SvcError } from "@svc/contract";
import { aliasPrefixOf, BOARDS, CHIP_PROBE } from "@svc/kit/hardware";
import * as v from "valibot";
import { type BoardData, dataOf, knownBoards } from "./chips.ts";

interface Config {
  readonly boards: readonly { readonly board: string }[];
}

const input = v.strictObject({
  board: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[a-z][a-z0-9-]{0,63}$/, "a name such as arduino-uno, or an alias such as pico0"),
      v.description("Alias or name of the board. May be left out while one board is configured."),
    ),
  ),
});

export function create({ config, capabilities }: FeatureContext): Contributions {
  const { boards } = config as Config;

  function find(wanted: string | undefined): { readonly name: string; readonly data: BoardData } {
    const known = capabilities(BOARDS)[0]?.list() ?? [];
    const names = [...new Set(boards.map(({ board }) => board))];
    const name =
      wanted === undefined
        ? names.length === 1
          ? names[0]
          : undefined
        : (known.find(({ alias }) => alias === wanted)?.board ?? wanted);
    if (name === undefined) {
      throw new SvcError("BOARD_UNKNOWN", `Several boards are configured; name one: ${names.join(", ")}.`);
    }
    const data = dataOf(name);
    if (data) return { name: wanted ?? name, data };
    throw new SvcError(
      "BOARD_UNKNOWN",
      `Nothing is known of the board ${name} (${aliasPrefixOf(name)}). Known boards: ${knownBoards.join(", ")}.`,
    );
  }

  /** A failing probe must not hide the static data. */
  async function live({ board }: BoardData, signal: AbortSignal): Promise<Json | undefined> {
    const [probe] = capabilities(CHIP_PROBE);
    if (!probe?.boards.includes(board)) return undefined;
    try {
      const { chip, isIdentified, deviceId, revision, memory } = await probe.read(board, signal);
      return {
        chip,
        identified: isIdentified,
        device_id: deviceId === undefined ? null : hex(deviceId, 3),
        revision: revision === undefined ? null : hex(revision, 4),
        memory: memory.map(({ name, start, bytes, isLive }) => ({
          name,
          start: hex(start, 8),
          bytes,
          read_from_chip: isLive,
        })),
      };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof SvcError) return { error: `${error.code}: ${error.message}` };
      throw error;
    }
  }

  return {
    tools: [
      defineTool({
        name: "hardware_board_info",
        description:
          "Tells chip, clock, memory and logic level of a configured board; of a Nucleo with a debug probe also what its chip says.",
        input,
        approval: "auto",
        async run({ board }, { signal }) {
          signal.throwIfAborted();
          const { name, data } = find(board);
          const reading = await live(data, signal);
          return {
            board: name,
            chip: data.chip,
            architecture: data.architecture,
            clock_mhz: data.clockMhz,
            memory: data.memory.map(({ name, bytes }) => ({ name, kilobytes: bytes / 1024 })),
            logic_volts: data.logicVolts,
            led_pin: data.ledPin ?? null,
            source: data.source,
            ...(reading !== undefined && { live: reading }),
          };
        },
      }),
      defineTool({
        name: "hardware_memory_map",
        description: "Tells where flash and RAM of a configured board begin and how large they are.",
        input,
        approval: "auto",
        async run({ board }, { signal }) {
          signal.throwIfAborted();
          const { name, data } = find(board);
          const reading = await live(data, signal);
          return {
            board: name,
            chip: data.chip,
            memory: data.memory.map(({ name, start, bytes }) => ({
              name,
              start: hex(start, 8),
              end: hex(start + bytes - 1, 8),
              bytes,
            })),
            source: data.source,
            ...(reading !== undefined && { live: reading }),
          };
        },
      }),
      defineTool({
        name: "hardware_capabilities",
        description: "Tells which pins and buses a configured board has, at which voltage, and which LED pin.",
        input,
        approval: "auto",
        async run({ board }, { signal }) {
          signal.throwIfAborted();
          const { name, data } = find(board);
          return {
            board: name,
            pins: data.pins,
            led_pin: data.ledPin ?? null,
            buses: [...data.buses],
            logic_volts: data.logicVolts,
            source: data.source,
          };
        },
      }),
    ],
  };
}

const hex = (value: number, digits: number): string => `0x${value.toString(16).padStart(digits, "0")}`;
