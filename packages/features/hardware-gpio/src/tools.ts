/** The tools. Each says so where no board is connected. */
import { type Clock, SvcError, type Tool, defineTool, integer } from "@svc/contract";
import type { Level } from "@svc/kit/hardware";
import * as v from "valibot";
import type { CodeRunner, Dialect } from "./dialect/dialect.ts";
import { printable } from "./link/link.ts";
import { type FlashDeps, flashPico } from "./pico-flash.ts";
import type { BoardRegistry } from "./registry.ts";
import { checksum, literal } from "./dialect/micropython.ts";

const MOST_OUTPUT_BYTES = 24_576;
const MOST_CODE_CHARS = 65_536;
const LONGEST_RUN_SECS = 60;

const device = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^[a-z][a-z0-9-]{0,31}$/, "an alias such as pico0"),
    v.description("Alias of the board, such as pico0. May be left out while one board is connected."),
  ),
);
const pin = v.pipe(integer(0, 255), v.description("Number of the pin, as the board counts its GPIOs."));
const file = v.optional(
  v.pipe(
    v.string(),
    v.regex(/^(?!.*\.\.)[A-Za-z0-9_][\w./-]{0,99}$/, "a file name such as main.py"),
    v.description("File on the board. main.py runs at each start of the board."),
  ),
  "main.py",
);

export const toolsOf = (registry: BoardRegistry, flash: FlashDeps, calls: CallLog): Tool[] => [
  defineTool({
    name: "gpio_write",
    description: "Sets a GPIO pin of a connected board HIGH (1) or LOW (0). The pin becomes an output.",
    input: v.strictObject({
      device,
      pin,
      value: v.pipe(v.picklist([0, 1]), v.description("1 for HIGH, 0 for LOW.")),
    }),
    approval: "ask",
    lasting: Object.freeze({}),
    async run({ device, pin, value }, { signal }) {
      const alias = await locate(registry, device);
      registry.checkWritable(alias);
      const call = { device: alias, tool: "gpio_write", call: `GPIO ${pin} ${levelOf(value)}` };
      await calls.run(call, () => registry.writePin(alias, pin, value, signal));
      return `GPIO ${pin} set ${levelOf(value)} on ${alias}`;
    },
  }),
  defineTool({
    name: "gpio_read",
    description:
      "Reads the level of a GPIO pin of a connected board, or the number of an analog input. With pull the pin becomes an input with that resistor; without it an output " +
      "stays one. A board with MicroPython stops the program that it runs.",
    input: v.strictObject({
      device,
      pin,
      pull: v.optional(v.pipe(v.picklist(["up", "down", "none"]), v.description("Pull resistor of the input."))),
      analog: v.optional(v.pipe(v.boolean(), v.description("true: read the number of an analog input.")), false),
    }),
    approval: "auto",
    async run({ device, pin, pull, analog }, { signal }) {
      if (analog && pull) throw new SvcError("TOOL_BAD_INPUT", "An analog input has no resistor; leave pull out.");
      const alias = await locate(registry, device);
      // It makes an input of a pin that may be a motor's.
      if (pull !== undefined) registry.checkWritable(alias);
      if (analog) {
        const call = { device: alias, tool: "gpio_read", call: `analog GPIO ${pin}` };
        return `GPIO ${pin} reads ${await calls.run(call, () => registry.readAnalog(alias, pin, signal))} on ${alias}`;
      }
      const call = { device: alias, tool: "gpio_read", call: `GPIO ${pin}` };
      const value = await calls.run(call, () => registry.readPin(alias, pin, { pull, signal }));
      return `GPIO ${pin} is ${levelOf(value)} (${value}) on ${alias}`;
    },
  }),
  defineTool({
    name: "device_exec",
    description:
      "Runs MicroPython or CircuitPython code on a connected board and returns what it prints. The program that the board runs is " +
      `stopped. Of the output the first ${MOST_OUTPUT_BYTES} bytes are returned; print results.`,
    input: v.strictObject({
      device,
      code: v.pipe(v.string(), v.nonEmpty(), v.maxLength(MOST_CODE_CHARS), v.description("Source code.")),
      timeout_secs: v.optional(
        v.pipe(integer(1, LONGEST_RUN_SECS), v.description("After this it is interrupted.")),
        10,
      ),
    }),
    approval: "ask",
    async run({ device, code, timeout_secs: seconds }, { signal }) {
      const called = { registry, calls, tool: "device_exec", call: firstLineOf(code) };
      return await withCode(called, device, signal, async (runner, alias, limited) => {
        const options = { timeoutMs: seconds * 1000, maxBytes: MOST_OUTPUT_BYTES, signal: limited };
        const { output, isCut, error } = await runner.run(code, options);
        return {
          device: alias,
          output: textOf(output),
          ...(error !== "" && { error: textOf(Buffer.from(error)) }),
          ...(isCut && { note: `Output was cut after ${MOST_OUTPUT_BYTES} bytes.` }),
        };
      });
    },
  }),
  defineTool({
    name: "device_read_code",
    description:
      "Reads a file of source code from a connected board with MicroPython. The program that the board runs is stopped.",
    input: v.strictObject({ device, file }),
    approval: "auto",
    async run({ device, file }, { signal }) {
      const called = { registry, calls, tool: "device_read_code", call: file };
      return await withCode(called, device, signal, async (runner, alias, limited) => {
        const { content, isCut } = await readFileFrom(runner, { file, what: alias, signal: limited });
        return {
          device: alias,
          file,
          code: textOf(content),
          ...(isCut && { note: `Only the first ${content.length} bytes are here.` }),
        };
      });
    },
  }),
  defineTool({
    name: "device_write_code",
    description:
      "Writes a file of source code to a connected board with MicroPython. main.py runs at the next start of the board. The program " +
      "that the board runs is stopped.",
    input: v.strictObject({
      device,
      file,
      code: v.pipe(v.string(), v.maxLength(MOST_CODE_CHARS), v.description("The whole content of the file.")),
    }),
    approval: "ask",
    async run({ device, file, code }, { signal }) {
      const called = { registry, calls, tool: "device_write_code", call: file };
      return await withCode(called, device, signal, async (runner, alias, limited) => {
        const { bytes, isReplaced } = await writeFileTo(runner, {
          file,
          what: alias,
          signal: limited,
          content: Buffer.from(code),
        });
        const note = isReplaced ? "" : " The firmware can't rename files, so it was written in place.";
        return `Wrote ${bytes} bytes to ${file} on ${alias}.${note}`;
      });
    },
  }),
  defineTool({
    name: "pico_flash",
    description:
      "Puts a firmware image (UF2) from the firmware folder onto a Raspberry Pi Pico. All that is in its program memory is lost. A person " +
      "may have to hold BOOTSEL while the board is plugged in.",
    input: v.strictObject({
      device,
      firmware: v.optional(
        v.pipe(
          v.string(),
          v.maxLength(125),
          v.description("Name of a .uf2 file in the firmware folder. Default: firmware.uf2."),
        ),
      ),
      confirm: v.pipe(v.literal(true), v.description("true: the firmware of the board may be replaced.")),
    }),
    approval: "ask",
    async run({ device, firmware }, { signal }) {
      const call = { device: device ?? "", tool: "pico_flash", call: firmware ?? "firmware.uf2" };
      const {
        firmware: name,
        bootLoader,
        device: alias,
      } = await calls.run(call, () => flashPico(flash, { device, firmware, signal }));
      const end =
        alias === undefined
          ? "The board has not come back yet; unplug it and plug it in again."
          : `It is back as ${alias}.`;
      return `Wrote ${name} to the board (${bootLoader}). ${end}`;
    },
  }),
];

/** The alias that is meant. A board that was plugged in a moment ago is found. Rejects with BOARD_UNKNOWN. */
async function locate(registry: BoardRegistry, device: string | undefined): Promise<string> {
  try {
    return registry.find(device).alias;
  } catch {
    await registry.scan();
    return registry.find(device).alias;
  }
}

interface CodeCall extends Pick<BoardCall, "tool" | "call"> {
  readonly registry: BoardRegistry;
  readonly calls: CallLog;
}

async function withCode<T>(
  { registry, calls, tool, call }: CodeCall,
  device: string | undefined,
  signal: AbortSignal,
  work: (runner: CodeRunner, alias: string, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const alias = await locate(registry, device);
  // Each of these stops the program that the board runs.
  registry.checkWritable(alias);
  const run = async (dialect: Dialect, limited: AbortSignal): Promise<T> => {
    if (dialect.code) return await work(dialect.code, alias, limited);
    throw new SvcError("BOARD_FAILED", `${alias} runs no source code; it needs MicroPython or CircuitPython.`, {
      hint: "Put MicroPython on the board, for a Pico with pico_flash.",
    });
  };
  return await calls.run({ device: alias, tool, call }, () => registry.command(alias, signal, run));
}

/** For people who watch. */
const firstLineOf = (code: string): string => printable(code.trimStart().split("\n", 1)[0]!).slice(0, 80);

const levelOf = (value: Level): string => (value === 1 ? "HIGH" : "LOW");

/** What a board prints reaches the model; bytes that are no text must not break the answer. */
const textOf = (bytes: Buffer): string => bytes.toString("utf8").replaceAll("\r\n", "\n").toWellFormed();

/** Files on a board with MicroPython, read and written by code that it runs. */
const MOST_READ_BYTES = 65_536;
/** Of the file, in one piece of code: small boards have little memory for it. */
const PIECE_BYTES = 512;
const SMALL_PIECE_BYTES = 128;
const STEP_MS = 10_000;

interface BoardFile {
  readonly file: string;
  /** The board, for messages. */
  readonly what: string;
  readonly signal: AbortSignal;
}

export async function readFileFrom(
  runner: CodeRunner,
  { file, what, signal }: BoardFile,
): Promise<{ readonly content: Buffer; readonly isCut: boolean }> {
  const code = `f = open('${file}', 'rb')
n = 0
while n < ${MOST_READ_BYTES}:
    b = f.read(64)
    if not b:
        break
    n += len(b)
    print(''.join(['%02x' % c for c in b]))
print('cut' if f.read(1) else 'end')
f.close()`;
  const options = { timeoutMs: 6 * STEP_MS, maxBytes: 4 * MOST_READ_BYTES, signal };
  const { output, error } = await runner.run(code, options);
  if (/OSError/.test(error)) {
    throw new SvcError("TOOL_FAILED", `There is no file ${file} on ${what}.`);
  }
  demandDone(error, what);
  const lines = output.toString("latin1").trim().split(/\s+/);
  const last = lines.pop();
  if ((last !== "end" && last !== "cut") || lines.some((line) => !/^(?:[0-9a-f]{2})+$/.test(line))) {
    throw new SvcError("BOARD_FAILED", `${what} did not send the file whole.`);
  }
  return { content: Buffer.from(lines.join(""), "hex"), isCut: last === "cut" };
}

/**
 * `isReplaced`: it took the name of the old file when it was whole. Firmware without \`os.rename\`, such as that of the micro:bit, writes in
 * place.
 */
export async function writeFileTo(
  runner: CodeRunner,
  { file, what, signal, content }: BoardFile & { readonly content: Buffer },
): Promise<{ readonly bytes: number; readonly isReplaced: boolean }> {
  const step = async (code: string): Promise<string> => {
    const { output, error } = await runner.run(code, { timeoutMs: STEP_MS, maxBytes: 1024, signal });
    demandDone(error, what);
    return output.toString("latin1").trim();
  };
  const canRename = (await step("import os\nprint(hasattr(os, 'rename'))")) === "True";
  const target = canRename ? `${file}.svc-part` : file;
  const pieceBytes = canRename ? PIECE_BYTES : SMALL_PIECE_BYTES;
  await step(`_svc_file = open('${target}', 'wb')`);
  for (let at = 0; at < content.length; at += pieceBytes) {
    await step(`_svc_file.write(${literal(content.subarray(at, at + pieceBytes))})`);
  }
  await step("_svc_file.close()");
  // Read back, as a line without flow control may lose bytes, and a full storage takes fewer.
  const written = await step(CHECKSUM.replace("FILE", target));
  if (written !== `${content.length} ${checksum(content)}`) {
    throw new SvcError("BOARD_FAILED", `${what} did not keep ${file} as it was sent; its storage may be full.`, {
      hint: canRename ? "The file of this name is as it was." : "The file on the board is damaged; write it again.",
    });
  }
  if (canRename) {
    // FAT does not rename over a file that is there; littlefs does.
    await step(
      `try:\n    os.rename('${target}', '${file}')\nexcept OSError:\n    os.remove('${file}')\n    os.rename('${target}', '${file}')`,
    );
  }
  return { bytes: content.length, isReplaced: canRename };
}

/** As `checksum` counts. */
const CHECKSUM = `f = open('FILE', 'rb')
n = 0
s = 0
while True:
    b = f.read(64)
    if not b:
        break
    n += len(b)
    for c in b:
        s = (s * 31 + c) & 0xffffff
f.close()
print(n, s)`;

function demandDone(error: string, what: string): void {
  if (error === "") return;
  const reason =
    error
      .trim()
      .split("\n")
      .at(-1)
      ?.replaceAll(/\p{Cc}/gu, " ")
      .slice(0, 200) ?? "";
  throw new SvcError("BOARD_FAILED", `${what} could not do this: ${reason}`);
}

// The last calls of tools that reached a board, with how they ended: for people who watch. In memory; the audit log has what was
// approved.

interface BoardCall {
  readonly n: number;
  /** Alias. */
  readonly device: string;
  readonly tool: string;
  /** The effect, e.g. `GPIO 13 HIGH`. */
  readonly call: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly state: "running" | "done" | "failed";
  /** Why it failed. */
  readonly code: string | undefined;
}

const MOST_KEPT = 50;

export class CallLog {
  readonly #clock: Clock;
  readonly #calls = new Map<number, BoardCall>();
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves and rejects as `work` does. */
  async run<T>(what: Pick<BoardCall, "device" | "tool" | "call">, work: () => Promise<T>): Promise<T> {
    const call = { ...what, n: (this.#count += 1), at: this.#clock.now() };
    this.#keep({ ...call, state: "running", code: undefined });
    try {
      const result = await work();
      this.#keep({ ...call, state: "done", code: undefined });
      return result;
    } catch (error) {
      this.#keep({ ...call, state: "failed", code: error instanceof SvcError ? error.code : "INTERNAL" });
      throw error;
    }
  }

  /** The newest first. */
  list(): readonly BoardCall[] {
    return [...this.#calls.values()].toSorted((a, b) => b.n - a.n);
  }

  #keep(call: BoardCall): void {
    // One that was dropped while it ran stays dropped.
    if (call.state !== "running" && !this.#calls.has(call.n)) return;
    this.#calls.set(call.n, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MOST_KEPT && oldest !== undefined) this.#calls.delete(oldest);
  }
}
