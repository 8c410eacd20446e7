/** A bridge: the lines of a board over TCP. */
import { SvcError } from "@svc/contract";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { Incoming, type Link, lost } from "./link.ts";

export interface TcpTarget {
  /** For messages. */
  readonly what: string;
  /** IP addresses, tried in this order. */
  readonly addresses: readonly string[];
  readonly port: number;
}

export async function openTcp({ what, addresses, port }: TcpTarget, signal: AbortSignal): Promise<Link> {
  let refusal = "no address";
  for (const host of addresses) {
    const socket = connect({ host, port, noDelay: true });
    try {
      await once(socket, "connect", { signal });
      return new TcpLink(what, socket);
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      refusal = String((error as NodeJS.ErrnoException).code ?? "failed");
    }
  }
  throw new SvcError("BOARD_LOST", `The bridge of ${what} can't be reached (${refusal}).`, {
    hint: "Start the bridge, and check the path of the board in [[peripherals.boards]].",
  });
}

class TcpLink implements Link {
  readonly incoming = new Incoming();
  readonly #what: string;
  readonly #socket: Socket;

  constructor(what: string, socket: Socket) {
    this.#what = what;
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.incoming.push(chunk));
    socket.on("error", () => this.incoming.end(lost(what)));
    socket.on("close", () => this.incoming.end(lost(what)));
    // Half a connection is none: a bridge that went away takes no commands.
    socket.on("end", () => socket.destroy());
  }

  async write(bytes: Uint8Array | string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (this.incoming.hasEnded) throw lost(this.#what);
    this.#socket.write(bytes, (error) => (error ? reject(lost(this.#what)) : resolve()));
    await promise;
  }

  async close(): Promise<void> {
    this.incoming.end(lost(this.#what));
    this.#socket.destroy();
  }
}
