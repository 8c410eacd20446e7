/** Connections that are opened and then say nothing. */
import { connect, type Socket } from "node:net";
import type { Place } from "./wire/exchange.ts";

export interface IdleConnections extends Disposable {
  /** Opened so far, and not closed by the server. */
  readonly open: number;
  /** Opened at all. */
  readonly reached: number;
  /** Closes them one after the other, spread over so long. */
  leave(overMs: number): Promise<void>;
}

const STEP_MS = 10;

export interface IdlePace {
  /** So many at a time, fewer than a listen queue holds. Default: 8. */
  readonly width?: number;
  /** Spread over so long. Default: as fast as they are taken. */
  readonly overMs?: number;
}

/** Stops early when this process can have no more. */
export async function openIdle(
  place: Place,
  count: number,
  { width = 8, overMs = 0 }: IdlePace = {},
): Promise<IdleConnections> {
  const sockets = new Set<Socket>();
  const startedAt = performance.now();
  let begun = 0;
  let reached = 0;
  let isExhausted = false;
  const open = async (): Promise<void> => {
    while (begun < count && !isExhausted) {
      begun += 1;
      const earlyMs = startedAt + (overMs * begun) / count - performance.now();
      if (earlyMs > 1) await new Promise((resolve) => setTimeout(resolve, earlyMs));
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
    async leave(overMs) {
      const each = Math.ceil((sockets.size * STEP_MS) / overMs);
      while (sockets.size > 0) {
        for (const socket of [...sockets].slice(0, each)) {
          sockets.delete(socket);
          socket.destroy();
        }
        await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      }
    },
    [Symbol.dispose]: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
