/** The chip behind the GDB server. One session at a time: a server takes one debugger. */
import { type Clock, type FeatureContext, SvcError } from "@svc/contract";
import { Semaphore, withTimeout } from "@svc/kit/async";
import type { LiveChip, LiveRegion } from "@svc/kit/hardware";
import { GdbRemote } from "./gdb-remote.ts";
import { freePort, openLine } from "./line.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

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
  readonly #lock = new Semaphore(1);

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
    return this.#lock.run(run);
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

/**
 * The chips that are read live. Memory: data sheets STM32F401xD/xE (DS10086) and STM32F411xC/xE (DS10314), section "Memory mapping"; ids
 * and registers: reference manuals RM0368 and RM0383, "MCU device ID code" and "Device electronic signature".
 */
interface Region {
  readonly name: "flash" | "RAM";
  readonly start: number;
  readonly bytes: number;
}

interface Chip {
  /** Board that has it. */
  readonly board: string;
  readonly name: string;
  /** DEV_ID of DBGMCU_IDCODE. */
  readonly deviceId: number;
  readonly regions: readonly Region[];
}

/** DBGMCU_IDCODE: DEV_ID in bits 0 to 11, REV_ID in bits 16 to 31. */
const IDCODE = 0xe004_2000;
/** Flash size in KiB, 16 bits. */
const FLASH_SIZE = 0x1fff_7a22;

const flash = (kib: number): Region => ({ name: "flash", start: 0x0800_0000, bytes: kib * 1024 });
const ram = (kib: number): Region => ({ name: "RAM", start: 0x2000_0000, bytes: kib * 1024 });

const CHIPS: readonly Chip[] = [
  { board: "nucleo-f401re", name: "STM32F401RE", deviceId: 0x433, regions: [flash(512), ram(96)] },
  { board: "nucleo-f411re", name: "STM32F411RE", deviceId: 0x431, regions: [flash(512), ram(128)] },
];

const chipById = (deviceId: number): Chip | undefined => CHIPS.find((chip) => chip.deviceId === deviceId);

/** By the name of the board, or of the chip with whatever stands for its package: `STM32F401RETx`. Throws TOOL_BAD_INPUT. */
function chipByName(text: string): Chip {
  const name = text.trim().toLowerCase();
  const chip = CHIPS.find((one) => name === one.board || name.startsWith(one.name.toLowerCase()));
  if (chip) return chip;
  throw new SvcError("TOOL_BAD_INPUT", "This chip can't be read live.", {
    hint: `Those that can: ${CHIPS.map(({ board, name: own }) => `${own} (${board})`).join(", ")}.`,
  });
}

/** The region that holds all of these bytes. Throws TOOL_BAD_INPUT. */
function regionOf(chip: Chip, address: number, length: number): Region {
  const region = chip.regions.find(({ start, bytes }) => address >= start && address + length <= start + bytes);
  if (region) return region;
  const ranges = chip.regions.map(({ name, start, bytes }) => `${name} ${hex(start)} to ${hex(start + bytes - 1)}`);
  throw new SvcError(
    "TOOL_BAD_INPUT",
    `These bytes are not inside the memory of the ${chip.name}: ${ranges.join(", ")}.`,
  );
}

export const hex = (value: number, digits = 8): string => `0x${value.toString(16).padStart(digits, "0")}`;

export const liveBoards = (): readonly string[] => CHIPS.map(({ board }) => board);

// OpenOCD as a child process, for one session: started on a free port of loopback, waited for, ended.

/** How long an adapter may take to find its chip. */
const START_MS = 10_000;
/** Between the request to end and the kill. */
const GRACE_MS = 2000;
/** Bytes kept of its log: the last lines say why it ended. */
const MOST_LOG_CHARS = 16_384;

interface OpenOcdOptions {
  /** Absolute path of the program. */
  readonly program: string;
  /** Script for the adapter and the board, as `openocd -f` takes it. */
  readonly script: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

interface OpenOcd extends AsyncDisposable {
  /** Of its GDB server, as `hardware.gdb_server` has it. */
  readonly address: string;
}

/** Resolves once the GDB server listens. Rejects with REMOTE_UNREACHABLE, REMOTE_TIMEOUT, and the signal's reason; nothing runs then. */
export async function startOpenOcd({ program, script, clock, signal }: OpenOcdOptions): Promise<OpenOcd> {
  signal.throwIfAborted();
  const port = await freePort();
  // Its other servers take commands of every program on this machine.
  const servers = ["bindto 127.0.0.1", `gdb_port ${port}`, "tcl_port disabled", "telnet_port disabled"];
  const child = spawn(program, [...servers.flatMap((command) => ["-c", command]), "-f", script], {
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  // Nothing waits for it when the signal was aborted meanwhile.
  listening.catch(() => undefined);
  let log = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      log = (log + text).slice(-MOST_LOG_CHARS);
      if (log.includes(`Listening on port ${port} for gdb connections`)) resolve();
    });
  }
  child.once("error", (error: NodeJS.ErrnoException) =>
    reject(unusable(`could not be started (${error.code})`, script)),
  );
  child.once("close", (code, end) =>
    reject(unusable(`ended (${end ?? `exit code ${code}`})${lastError(log)}`, script)),
  );
  const limit = { clock, timeoutMs: START_MS, signal, error: () => tooLate(lastError(log), script) };
  const close = (): Promise<void> => end(child, clock);
  try {
    await withTimeout(limit, () => listening);
    return { address: `127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Nothing of the daemon's environment but what OpenOCD finds its files by. */
const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ["PATH", "HOME", "OPENOCD_SCRIPTS", "SystemRoot"].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]],
    ),
  );

async function end(child: ChildProcess, clock: Clock): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const cancel = clock.after(GRACE_MS, () => child.kill("SIGKILL"));
  await ended;
  cancel();
}

/** OpenOCD's own reason, as a part of a sentence: printable, and short. */
function lastError(log: string): string {
  const said = [...log.matchAll(/^(?:.*: )?Error: (.*)$/gm)].at(-1)?.[1];
  const text = said
    ?.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(0, 200);
  return text === undefined || text === "" ? "" : `: ${text}`;
}

const hint = (script: string): { readonly hint: string } => ({
  hint: `Connect the board by USB, and run: openocd -f ${script}. Another adapter needs hardware.openocd_script.`,
});

const unusable = (what: string, script: string): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", `openocd ${what}.`, hint(script));

const tooLate = (said: string, script: string): SvcError =>
  new SvcError("REMOTE_TIMEOUT", `openocd found no chip within ${START_MS / 1000} s${said}.`, hint(script));
