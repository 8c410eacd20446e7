/** Connections that are opened and then say nothing. */
import { connect, type Socket } from "node:net";
import type { Place } from "./wire/exchange.ts";

export interface IdleConnections extends Disposable {
  /** Opened so far, and not closed by the server. */
  readonly open: number;
  /** Opened at all. */
  readonly reached: number;
}

/** Opens so many at a time, fewer than a listen queue holds. Stops early when this process can have no more. */
export async function openIdle(place: Place, count: number, width = 8): Promise<IdleConnections> {
  const sockets = new Set<Socket>();
  let begun = 0;
  let reached = 0;
  let isExhausted = false;
  const open = async (): Promise<void> => {
    while (begun < count && !isExhausted) {
      begun += 1;
      const socket = connect({ ...place });
      const code = await new Promise<string>((resolve) => {
        socket.once("connect", () => resolve(""));
        socket.once("error", (cause: NodeJS.ErrnoException) => resolve(cause.code ?? "error"));
      });
      if (code === "") {
        reached += 1;
        sockets.add(socket);
        socket.on("error", () => {}).once("close", () => sockets.delete(socket));
        socket.resume();
      } else {
        socket.destroy();
        isExhausted ||= code === "EMFILE" || code === "ENFILE";
      }
    }
  };
  await Promise.all(Array.from({ length: width }, open));
  return {
    get open() {
      return sockets.size;
    },
    reached,
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
