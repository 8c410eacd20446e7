/** Many connections of one attacker. */
import { connect, type Socket } from "node:net";
import type { Place } from "../wire/exchange.ts";

/** So many are being opened at a time, fewer than a listen queue holds. */
const WIDTH = 32;

export class Sockets implements Disposable {
  readonly #place: Place;
  readonly #open = new Set<Socket>();
  #isOver = false;

  constructor(place: Place) {
    this.#place = place;
  }

  /** Opened at all. */
  reached = 0;
  /** Bytes that came back. */
  received = 0;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves when each is open, or was refused. */
  async open(count: number, begin: (socket: Socket) => void): Promise<void> {
    let left = count;
    const work = async (): Promise<void> => {
      while (left > 0 && !this.#isOver) {
        left -= 1;
        await this.one(begin);
      }
    };
    await Promise.all(Array.from({ length: Math.min(WIDTH, count) }, work));
  }

  one(begin: (socket: Socket) => void): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect({ ...this.#place, noDelay: true, allowHalfOpen: true }, () => {
        this.reached += 1;
        begin(socket);
        resolve();
      });
      this.#open.add(socket);
      socket.on("error", () => resolve()).on("close", () => (this.#open.delete(socket), resolve()));
    });
  }

  /** Each time something comes back: how much that is, and whether the attacker goes on. */
  answered(socket: Socket, next: () => void): void {
    socket.on("data", (bytes: Buffer) => {
      this.received += bytes.length;
      if (!this.#isOver && socket.writable) next();
    });
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const socket of this.#open) socket.destroy();
  }
}
