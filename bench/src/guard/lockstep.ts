/**
 * Requests in bursts, over connections that stay open: one request on each, and the next burst when all are answered.
 * Bursts of several builds take turns within milliseconds, so that what disturbs the machine disturbs all of them alike.
 */
import { connect, type Socket } from "node:net";

/** What a connection sends next. */
export type NextRequest = (connection: number) => Buffer;

export class Lockstep implements Disposable {
  readonly #connections: readonly Connection[];
  readonly #next: NextRequest;

  private constructor(connections: readonly Connection[], next: NextRequest) {
    this.#connections = connections;
    this.#next = next;
  }

  static async open(port: number, width: number, status: number, next: NextRequest): Promise<Lockstep> {
    const connections = Array.from({ length: width }, () => Connection.open(port, status));
    return new Lockstep(await Promise.all(connections), next);
  }

  async burst(): Promise<void> {
    await Promise.all(this.#connections.map((connection, number) => connection.exchange(this.#next(number))));
  }

  [Symbol.dispose](): void {
    for (const connection of this.#connections) connection.close();
  }
}

/** One request at a time; every answer must have the expected status. */
class Connection {
  readonly #socket: Socket;
  readonly #status: string;
  #received = "";
  #answered: () => void = () => {};
  #failed: (error: Error) => void = () => {};

  private constructor(socket: Socket, status: number) {
    this.#socket = socket;
    this.#status = String(status);
    socket.on("data", (chunk) => this.#read(chunk.toString("latin1")));
    socket.on("error", (error) => this.#failed(error));
    socket.on("close", () => this.#failed(new Error("the daemon closed a connection")));
  }

  static open(port: number, status: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port, noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => resolve(new Connection(socket, status)));
    });
  }

  exchange(request: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#received = "";
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#failed = () => {};
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(this.#received)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return;
    const status = this.#received.slice(9, 12);
    if (status === this.#status) this.#answered();
    else this.#failed(new Error(`a request was answered with ${status} instead of ${this.#status}`));
  }
}
