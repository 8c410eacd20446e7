/**
 * Counts connections and closes them in order. While turns run the server goes on listening: a client or a probe that
 * comes now is told 503, where a refused connection would tell it nothing. Then it stops listening, requests that are
 * only half here are cut, and the others get what is left of the time.
 */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "@svc/contract";
import type { RunningTurns } from "../running-turns.ts";
import { within } from "../within.ts";
import { responseInFlight } from "./connections.ts";

/** How long aborted turns get to end: a command that ignores SIGTERM is killed after two seconds, and then kept. */
const ABORT_GRACE_MS = 5_000;
/** What a request that is still coming in gets: one slow client must not hold the shutdown for all of its time. */
const RECEIVE_GRACE_MS = 1_000;

export interface Closer {
  connections(): number;
  close(graceMs: number): Promise<void>;
}

/** `endStreams`: called when no turn runs any more; what is told to the end would hold the shutdown up. */
export function closer(server: Server, running: RunningTurns, clock: Clock, endStreams: () => void): Closer {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  const hurry = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;

  const close = async (graceMs: number): Promise<void> => {
    const endsAtMs = clock.monotonic() + graceMs;
    await within(Promise.race([running.idle(), hurry.promise]), graceMs, clock);
    if (running.size > 0) {
      running.abortAll();
      await within(running.idle(), ABORT_GRACE_MS, clock);
    }
    endStreams();
    // Stops listening and closes idle connections; the others end with the answer they wait for.
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    const ended = Promise.race([closed, hurry.promise]);
    if (!(await within(ended, RECEIVE_GRACE_MS, clock))) {
      for (const socket of open) if (responseInFlight(socket)?.req.complete !== true) socket.destroy();
      await within(ended, Math.max(0, endsAtMs - clock.monotonic()), clock);
    }
    server.closeAllConnections();
    // Those that were upgraded are no longer the server's.
    for (const socket of open) socket.destroy();
    await closed;
    // The server is "closed" a moment before the last of its sockets says so.
    await Promise.all(Array.from(open, (socket) => new Promise((gone) => socket.once("close", gone))));
  };
  return {
    connections: () => open.size,
    close(graceMs) {
      // Asked again with less patience: whoever stops the service a second time will not wait.
      if (closing && graceMs === 0) hurry.resolve();
      return (closing ??= close(graceMs));
    },
  };
}
