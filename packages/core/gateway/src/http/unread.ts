/**
 * Ends a connection whose client does not take its answer. Nothing else would: to Node it is at work, and each one keeps a
 * descriptor, the answer and the kernel's buffers for as long as its client likes.
 */
import type { ServerResponse } from "node:http";
import type { Clock } from "@svc/contract";
import { holdUnread } from "./request-budget.ts";

/** As much as a request may take to come in. */
const TAKE_MS = 120_000;

/** Call when all of the answer is written. */
export function endIfUnread(outgoing: ServerResponse, clock: Clock): void {
  const { socket } = outgoing;
  if (socket !== null && socket.writableLength === 0) return;
  holdUnread(outgoing);
  const watch = (): void =>
    void outgoing.once(
      "close",
      clock.after(TAKE_MS, () => outgoing.destroy()),
    );
  // Behind an answer that is still being made (a turn may take an hour) its time has not begun.
  if (socket === null) outgoing.once("socket", watch);
  else watch();
}
