/** A serial port, held alone for as long as it is open. */
import { autoDetect } from "@serialport/bindings-cpp";
import { SvcError } from "@svc/contract";
import type { UsbDevice } from "@svc/kit/hardware";
import koffi from "koffi";
import { Incoming, type Link, lost, printable, terminalAt } from "./link.ts";

const READ_BYTES = 4096;

export interface SerialTarget {
  /** For messages. */
  readonly what: string;
  readonly path: string;
  readonly baud: number;
}

/** Rejects with BOARD_REFUSED, BOARD_LOST, BOARD_BUSY. */
export async function openSerial({ what, path, baud }: SerialTarget): Promise<Link> {
  const terminal = await terminalAt(path);
  let port: Port;
  try {
    // A board that resets when DTR falls keeps its pins when svc lets the port go.
    port = (await autoDetect().open({ path: terminal, baudRate: baud, lock: true, hupcl: false })) as Port;
  } catch (error) {
    throw refusal(what, path, error as Error);
  }
  if (isFree(port)) return new SerialLink(what, port);
  await port.close().catch(() => undefined);
  throw busy(what, path);
}

/** The part of a binding that is used here. */
interface Port {
  readonly fd?: number | null;
  /** Of systems with poll. */
  readonly poller?: { on(event: "readable" | "writable", listener: () => void): void };
  read(buffer: Buffer, offset: number, length: number): Promise<{ readonly bytesRead: number }>;
  write(buffer: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** The lock of the kernel does not hold for root, and other programs (mpremote, pyserial) lock in this way. */
function isFree({ fd }: Port): boolean {
  if (process.platform === "win32" || typeof fd !== "number") return true;
  const flock = koffi.load(null).func("int flock(int fd, int operation)");
  const exclusiveNow = 2 | 4;
  return flock(fd, exclusiveNow) === 0;
}

class SerialLink implements Link {
  readonly incoming = new Incoming();
  readonly #what: string;
  readonly #port: Port;
  #isClosed = false;

  constructor(what: string, port: Port) {
    this.#what = what;
    this.#port = port;
    // The addon calls back without a callback scope, and promises that it settles go on only with the next event of another
    // source. docs/decisions/0014-serialport-needs-a-tick.md
    for (const event of ["readable", "writable"] as const) port.poller?.on(event, () => setImmediate(() => {}));
    void this.#read();
  }

  async write(bytes: Uint8Array | string): Promise<void> {
    if (this.#isClosed || this.incoming.hasEnded) throw lost(this.#what);
    try {
      await this.#port.write(Buffer.from(bytes as Uint8Array));
    } catch {
      await this.close();
      throw lost(this.#what);
    }
  }

  async close(): Promise<void> {
    this.incoming.end(lost(this.#what));
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#port.close().catch(() => undefined);
  }

  async #read(): Promise<void> {
    try {
      while (!this.#isClosed) {
        const buffer = Buffer.alloc(READ_BYTES);
        const { bytesRead } = await this.#port.read(buffer, 0, READ_BYTES);
        this.incoming.push(buffer.subarray(0, bytesRead));
      }
    } catch {
      await this.close();
    }
  }
}

/** Serial ports of USB devices, as macOS and Windows list them. */
export async function listPorts(): Promise<readonly UsbDevice[]> {
  const ports = await autoDetect().list();
  return ports.flatMap(({ path, vendorId, productId, serialNumber: serial, locationId }) =>
    vendorId === undefined || productId === undefined
      ? []
      : [
          {
            vendorId: Number.parseInt(vendorId, 16),
            productId: Number.parseInt(productId, 16),
            serial,
            product: undefined,
            address: locationId ?? path,
            ports: [path],
          },
        ],
  );
}

function refusal(what: string, path: string, cause: Error): SvcError {
  const { message } = cause;
  if (/lock|busy/i.test(message)) return busy(what, path);
  if (/permission|access denied|EACCES/i.test(message)) {
    return new SvcError("BOARD_REFUSED", `This user may not open ${path}, the port of ${what}.`, {
      hint: "Add the user that svc runs as to the group dialout, and start svc again.",
    });
  }
  return new SvcError("BOARD_LOST", `${path}, the port of ${what}, can't be opened (${printable(message)}).`, {
    hint: "Reconnect the board; svc hardware discover lists the connected boards.",
    cause,
  });
}

const busy = (what: string, path: string): SvcError =>
  new SvcError("BOARD_BUSY", `${path}, the port of ${what}, is used by another program.`, {
    hint: "Close what uses it, such as a serial monitor, mpremote or another svc.",
  });
