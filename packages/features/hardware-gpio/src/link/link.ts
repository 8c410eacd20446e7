/** A line to a board: bytes there and back. What comes is buffered, and read piece by piece as the protocol has it. */
import { SvcError } from "@svc/contract";
import type { Stats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";

export interface Link {
  readonly incoming: Incoming;
  /** Resolves once the system has taken it. Rejects with BOARD_LOST. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Idempotent; what waits for bytes ends with BOARD_LOST. */
  close(): Promise<void>;
}

/** Undefined: more bytes are needed. */
export type Parse<T> = (bytes: Buffer) => { readonly value: T; readonly used: number } | undefined;

/** Limit of unread bytes; older ones are dropped. A board that prints in a loop must not fill the memory. */
const MOST_UNREAD_BYTES = 65_536;

export class Incoming {
  #bytes: Buffer = Buffer.alloc(0);
  #end: SvcError | undefined;
  #wake: (() => void) | undefined;

  push(chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.#bytes, chunk]);
    this.#bytes = this.#wake || bytes.length <= MOST_UNREAD_BYTES ? bytes : bytes.subarray(-MOST_UNREAD_BYTES);
    this.#wake?.();
  }

  /** Nothing more comes. */
  end(error: SvcError): void {
    this.#end ??= error;
    this.#wake?.();
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Forgets what was not read. */
  discard(): void {
    this.#bytes = Buffer.alloc(0);
  }

  /** Rejects with what `parse` throws, with the signal's reason, and with why nothing more comes. */
  async take<T>(parse: Parse<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      const found = parse(this.#bytes);
      if (found) {
        this.#bytes = this.#bytes.subarray(found.used);
        return found.value;
      }
      if (this.#end) throw this.#end;
      await this.#more(signal);
    }
  }

  async #more(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    signal.addEventListener("abort", resolve as () => void, { once: true });
    try {
      await promise;
    } finally {
      this.#wake = undefined;
      signal.removeEventListener("abort", resolve as () => void);
    }
  }
}

/** What a board says goes to the model and to terminals. */
export const printable = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ")
    .trim()
    .slice(0, 300)
    .toWellFormed();

export const lost = (what: string): SvcError =>
  new SvcError(
    "BOARD_LOST",
    `${what} was disconnected. A command that was running may have acted; it is not repeated.`,
    {
      hint: "Reconnect the board, check its state, and repeat the command if that is safe.",
    },
  );

// Which paths may be opened as a serial port. Opening the wrong one may start a watchdog, block, or write to a disk.

/** Paths of boards that are found; any other has to be in the config. */
const ALLOWED =
  /^(?:\/dev\/(?:ttyACM|ttyUSB|tty\.usb|cu\.usb)[\w.-]*|\/dev\/serial\/by-id\/[^/]+|(?:\\\\\.\\)?COM\d{1,3})$/i;

export const isBoardPath = (path: string): boolean => ALLOWED.test(path);

/**
 * The terminal behind a path, symbolic links followed. Nothing is opened.
 * @throws SvcError BOARD_REFUSED, BOARD_LOST where there is nothing.
 */
export async function terminalAt(path: string, root = "/"): Promise<string> {
  if (process.platform === "win32") return path;
  const target = await realpath(path).catch(() => undefined);
  const found = target === undefined ? undefined : await stat(target).catch(() => undefined);
  if (target === undefined || !found) {
    throw new SvcError("BOARD_LOST", `There is nothing at ${path}.`, {
      hint: "Connect the board; svc hardware discover lists the connected boards.",
    });
  }
  const kind = found.isCharacterDevice() ? "another kind of device" : kindOf(found);
  if (found.isCharacterDevice() && (await isTerminal(found.rdev, root))) return target;
  throw new SvcError("BOARD_REFUSED", `${path} is ${kind}, not a serial port; it was not opened.`, {
    hint: "Give the path of a serial port, such as /dev/ttyACM0.",
  });
}

function kindOf(found: Stats): string {
  if (found.isFile()) return "a regular file";
  if (found.isFIFO()) return "a FIFO";
  if (found.isDirectory()) return "a folder";
  if (found.isBlockDevice()) return "a disk";
  return "a socket";
}

/** Pseudo-terminals (majors 136 to 143 of the kernel's devices.txt) are not in /sys; of the others it knows the class. */
async function isTerminal(device: number, root: string): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const [major, minor] = [(device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00)];
  if (major >= 136 && major <= 143) return true;
  const subsystem = await realpath(join(root, `sys/dev/char/${major}:${minor}/subsystem`)).catch(() => "");
  return subsystem.endsWith("/class/tty");
}
