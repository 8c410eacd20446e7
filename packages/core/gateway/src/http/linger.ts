/**
 * Ends a connection whose client may still be sending. Closing it at once makes the kernel send a reset, which throws away
 * the answer on the client's side before it was read: a 431 would look like a crash.
 */
import type { Socket } from "node:net";
import type { Clock } from "@svc/contract";
import { systemClock } from "@svc/kernel";

/** How long, and how much, the client may send on before it is cut off. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 8 * 1_048_576;

/** Sends `last`, says that no more will come, and reads into nothing until the client has ended too. */
export function endAndLinger(socket: Socket, last: string, clock: Pick<Clock, "after"> = systemClock): void {
  socket.end(last);
  // The parser has given up; what still comes must not reach it, or each piece would be one more parser error.
  socket.removeAllListeners("data");
  let dropped = 0;
  socket.on("data", (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > LINGER_BYTES) socket.destroy();
  });
  socket.once("end", () => socket.destroySoon());
  // Counted from now, not from its last byte: of a socket that Node has let go of, as for an upgrade, no other limit holds,
  // and a stranger who goes on in drops would keep it for ever.
  socket.once(
    "close",
    clock.after(LINGER_MS, () => socket.destroy()),
  );
  socket.resume();
}
