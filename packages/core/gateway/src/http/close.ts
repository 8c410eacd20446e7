/** Counts connections and closes them in order: running turns first get to end, then the rest is cut. */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@svc/contract";
import type { RunningTurns } from "../running-turns.ts";

/** How long aborted turns get to write their answer. */
const ABORT_GRACE_MS = 1_000;

export interface Closer {
  connections(): number;
  close(graceMs: number): Promise<void>;
}

export function closer(server: Server, running: RunningTurns, clock: Clock): Closer {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  let closing: Promise<void> | undefined;

  const close = async (graceMs: number): Promise<void> => {
    // Stops listening and closes idle connections; the others end with the answer they wait for.
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const ended = Promise.all([closed, running.idle()]);
    if (!(await within(ended, graceMs, clock))) {
      running.abortAll();
      await within(ended, ABORT_GRACE_MS, clock);
    }
    server.closeAllConnections();
    await closed;
    // The server is "closed" a moment before the last of its sockets says so.
    await Promise.all(Array.from(open, (socket) => new Promise((gone) => socket.once("close", gone))));
  };
  return {
    connections: () => open.size,
    close(graceMs) {
      // Asked again with less patience: whoever stops the service a second time will not wait.
      if (closing && graceMs === 0) running.abortAll();
      return (closing ??= close(graceMs));
    },
  };
}

async function within(done: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const timer = new AbortController();
  const late = clock.sleep(ms, timer.signal).then(
    () => false,
    () => false,
  );
  const inTime = await Promise.race([done.then(() => true), late]);
  timer.abort();
  return inTime;
}
