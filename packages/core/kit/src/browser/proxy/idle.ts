import type { Duplex } from "node:stream";
import type { Clock } from "@svc/contract";

/** Ends connections that belong together when nothing has moved on any of them for `idleMs`. */
export function endWhenIdle(
  sockets: readonly Duplex[],
  idleMs: number,
  clock: Pick<Clock, "after" | "monotonic">,
): void {
  let moved = clock.monotonic();
  let cancel: () => void = () => undefined;
  const look = (): void => {
    const left = moved + idleMs - clock.monotonic();
    // One timer for all pieces of data, however many.
    if (left > 0) cancel = clock.after(left, look);
    else for (const socket of sockets) socket.destroy();
  };
  for (const socket of sockets) {
    socket.on("data", () => (moved = clock.monotonic()));
    socket.once("close", () => cancel());
  }
  look();
}
