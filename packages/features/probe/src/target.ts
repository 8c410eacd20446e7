/** The chip behind the GDB server. One session at a time: a server takes one debugger. */
import { type FeatureContext, SvcError } from "@svc/contract";
import type { LiveChip, LiveRegion } from "@svc/kit/hardware";
import { type Chip, chipById, chipByName, FLASH_SIZE, hex, IDCODE, type Region, regionOf } from "./chips.ts";
import { GdbRemote } from "./gdb-remote.ts";
import { openLine } from "./line.ts";
import { type OpenOcdOptions, startOpenOcd } from "./openocd.ts";

export interface MemoryRead {
  readonly chip: Chip;
  readonly region: Region;
  readonly bytes: Buffer;
}

type TargetDeps = Pick<FeatureContext, "clock" | "resolve"> & { readonly server: GdbServer };

/** Address of a server that runs, or OpenOCD, which is started for each session. */
export type GdbServer = string | Pick<OpenOcdOptions, "program" | "script">;

export class Target {
  readonly #deps: TargetDeps;
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: TargetDeps) {
    this.#deps = deps;
  }

  /** Throws as `ChipProbe.read`. */
  describe(named: string | undefined, signal: AbortSignal): Promise<LiveChip> {
    const expected = named === undefined ? undefined : chipByName(named);
    return this.#session(signal, async (gdb) => {
      const { chip, deviceId, revision } = await identify(gdb, expected);
      const flashKib = deviceId === undefined ? undefined : await flashKibOf(gdb);
      const memory = chip.regions.map(({ name, start, bytes }): LiveRegion =>
        name === "flash" && flashKib !== undefined
          ? { name, start, bytes: flashKib * 1024, isLive: true }
          : { name, start, bytes, isLive: false },
      );
      const { board, name } = chip;
      return { chip: name, board, isIdentified: deviceId !== undefined, deviceId, revision, memory };
    });
  }

  /** Throws as `ChipProbe.read`; TOOL_BAD_INPUT for what is not inside flash or RAM, before the chip is asked where its name is known. */
  read(
    {
      address,
      length,
      named,
    }: { readonly address: number; readonly length: number; readonly named: string | undefined },
    signal: AbortSignal,
  ): Promise<MemoryRead> {
    const expected = named === undefined ? undefined : chipByName(named);
    if (expected) regionOf(expected, address, length);
    return this.#session(signal, async (gdb) => {
      const { chip } = await identify(gdb, expected);
      const region = regionOf(chip, address, length);
      return { chip, region, bytes: await gdb.read(address, length) };
    });
  }

  #session<T>(signal: AbortSignal, work: (gdb: GdbRemote) => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      signal.throwIfAborted();
      const { server, clock } = this.#deps;
      await using child = typeof server === "string" ? undefined : await startOpenOcd({ ...server, clock, signal });
      const address = typeof server === "string" ? server : child!.address;
      const gdb = new GdbRemote(await openLine(address, this.#deps, signal), { clock, signal });
      try {
        await gdb.begin();
        return await work(gdb);
      } finally {
        await gdb.end();
      }
    };
    const result = this.#last.then(run, run);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

interface Identity {
  readonly chip: Chip;
  /** Undefined: the target has none. Emulators have none. */
  readonly deviceId: number | undefined;
  readonly revision: number | undefined;
}

/** Throws TOOL_FAILED for an unexpected or unknown chip. */
async function identify(gdb: GdbRemote, expected: Chip | undefined): Promise<Identity> {
  const code = await wordAt(gdb, IDCODE);
  const deviceId = code === undefined || (code & 0xfff) === 0 ? undefined : code & 0xfff;
  if (code === undefined || deviceId === undefined) {
    if (expected) return { chip: expected, deviceId: undefined, revision: undefined };
    throw new SvcError("TOOL_FAILED", "The target does not say which chip it is.", { hint: "Name the board." });
  }
  const chip = chipById(deviceId);
  if (!chip)
    throw new SvcError("TOOL_FAILED", `The target is a chip that svc does not know (device id ${hex(deviceId, 3)}).`);
  if (expected && expected !== chip) {
    throw new SvcError("TOOL_FAILED", `The target is an ${chip.name}, not an ${expected.name}.`);
  }
  return { chip, deviceId, revision: code >>> 16 };
}

async function flashKibOf(gdb: GdbRemote): Promise<number | undefined> {
  const kib = await halfWordAt(gdb, FLASH_SIZE);
  // 0xffff: never programmed. The largest F4 has 2 MiB.
  return kib !== undefined && kib > 0 && kib <= 2048 ? kib : undefined;
}

const wordAt = async (gdb: GdbRemote, address: number): Promise<number | undefined> =>
  (await readable(gdb.read(address, 4)))?.readUInt32LE();

const halfWordAt = async (gdb: GdbRemote, address: number): Promise<number | undefined> =>
  (await readable(gdb.read(address, 2)))?.readUInt16LE();

/** Undefined where the target refuses the address; a connection that is gone still throws. */
async function readable(reading: Promise<Buffer>): Promise<Buffer | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof SvcError && error.code === "TOOL_FAILED") return undefined;
    throw error;
  }
}
