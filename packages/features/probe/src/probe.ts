/** The feature: `hardware_memory_read`, the live chip for other features, and for `svc hardware info`. */
import {
  type Contributions,
  defineTool,
  type FeatureContext,
  type FeatureModule,
  integer,
  type Json,
  provide,
} from "@svc/contract";
import { findProgram } from "@svc/kit/process";
import { CHIP_PROBE, type LiveChip } from "@svc/kit/hardware";
import * as v from "valibot";
import { Target, hex, liveBoards } from "./target.ts";

const MAX_BYTES = 4096;
/** Of OpenOCD, for both boards. */
const DEFAULT_SCRIPT = "board/st_nucleo_f4.cfg";

/** The keys of `[hardware]` that it reads. */
interface Config {
  readonly gdb_server?: string;
  readonly openocd_script?: string;
}

/** Where OpenOCD is, unless a server is configured. */
export const survey: Required<FeatureModule>["survey"] = async ({ config }) =>
  (config as Config).gdb_server === undefined ? ((await findProgram("openocd")) ?? null) : null;

export function create({ config, clock, resolve, survey: program }: FeatureContext): Contributions {
  const { gdb_server: configured, openocd_script: script = DEFAULT_SCRIPT } = config as Config;
  const server = configured ?? (typeof program === "string" ? { program, script } : undefined);
  if (server === undefined) return {};
  const target = new Target({ server, clock, resolve });
  return {
    provides: [provide(CHIP_PROBE, { boards: liveBoards(), read: (chip, signal) => target.describe(chip, signal) })],
    tools: [memoryRead(target)],
    routes: [
      {
        method: "GET",
        path: "/api/hardware/chip",
        access: "operate",
        doc: {
          summary: "Returns the chip that the GDB server is connected to. Its processor stops for a moment.",
          query: { chip: v.optional(v.pipe(v.string(), v.description("Name of the chip or its board."))) },
          answers: { 200: { description: "What the chip says.", body: chipBody } },
          errors: [
            "TOOL_BAD_INPUT",
            "TOOL_FAILED",
            "CONFIG_INVALID",
            "ADDRESS_REFUSED",
            "REMOTE_UNREACHABLE",
            "REMOTE_TIMEOUT",
          ],
        },
        async handle({ query, signal }) {
          return { status: 200, body: chipJson(await target.describe(query.get("chip") ?? undefined, signal)) };
        },
      },
    ],
  };
}

const memoryRead = (target: Target) =>
  defineTool({
    name: "hardware_memory_read",
    description:
      "Reads bytes of the flash or RAM of the Nucleo board that is connected to the debug probe. The board's processor stops for a few " +
      "milliseconds. Nothing is written.",
    input: v.strictObject({
      address: v.pipe(
        v.union([
          v.pipe(v.string(), v.regex(/^0[xX][\da-fA-F]{1,8}$/, "hexadecimal, such as 0x20000000")),
          integer(0, 0xffff_ffff),
        ]),
        v.description("First byte: 0x08000000 and up is flash, 0x20000000 and up is RAM."),
      ),
      length: v.optional(v.pipe(integer(1, MAX_BYTES), v.description(`Bytes, at most ${MAX_BYTES}.`)), 128),
      board: v.optional(
        v.pipe(
          v.string(),
          v.nonEmpty(),
          v.maxLength(64),
          v.description("nucleo-f401re or nucleo-f411re. Default: what the chip says."),
        ),
      ),
    }),
    approval: "ask",
    lasting: Object.freeze({}),
    async run({ address, length, board }, { signal }) {
      const start = Number(address);
      const { chip, region, bytes } = await target.read({ address: start, length, named: board }, signal);
      return {
        chip: chip.name,
        region: region.name,
        address: hex(start),
        length: bytes.length,
        bytes: dump(start, bytes),
      };
    },
  });

/** One line for 16 bytes: `0x20000000: ef be ad de …`. */
function dump(start: number, bytes: Buffer): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)].map((byte) => byte.toString(16).padStart(2, "0"));
    lines.push(`${hex(start + at)}: ${row.join(" ")}`);
  }
  return lines.join("\n");
}

const chipBody = v.object({
  chip: v.string(),
  board: v.string(),
  identified: v.pipe(v.boolean(), v.description("The chip's device id names it; false: the caller did.")),
  device_id: v.nullable(v.string()),
  revision: v.nullable(v.string()),
  memory: v.array(
    v.object({
      name: v.picklist(["flash", "RAM"]),
      start: v.string(),
      bytes: v.number(),
      live: v.pipe(v.boolean(), v.description("Read from the chip; false: of the data sheet.")),
    }),
  ),
});

const chipJson = ({ chip, board, isIdentified, deviceId, revision, memory }: LiveChip): Json => ({
  chip,
  board,
  identified: isIdentified,
  device_id: deviceId === undefined ? null : hex(deviceId, 3),
  revision: revision === undefined ? null : hex(revision, 4),
  memory: memory.map(({ name, start, bytes, isLive }) => ({ name, start: hex(start), bytes, live: isLive })),
});
