/** Messages that have ended before an attempt at them begins. */
import { SvcError } from "@svc/contract";
import type { InboxMessage } from "@svc/store";
import { endTurn } from "./end-turn.ts";
import { apologyFor } from "./failure.ts";
import type { Attempted } from "./lane-options.ts";
import type { InboxLanes } from "./lanes.ts";
import { messageOver } from "./message-over.ts";
import type { InboxParts } from "./parts.ts";

/** It was dropped while it waited. If its turn had begun, the conversation remembers what acted in it. */
export async function passOver(parts: InboxParts, message: InboxMessage | undefined): Promise<Attempted> {
  const hasBegun = message?.kind === "message" && parts.store.steps.of(message.turnId).length > 0;
  if (hasBegun) await endTurn(parts, message, { note: () => undefined });
  else if (message) messageOver(parts, message, "TURN_CANCELLED");
  return "over";
}

/** The process died of it, again and again, and a start gave it up. */
export async function tellLost(
  parts: InboxParts,
  lanes: Pick<InboxLanes, "hold">,
  message: InboxMessage,
): Promise<void> {
  const { store } = parts;
  const { n, kind, draft, error: code = "TURN_CRASHED" } = message;
  if (kind !== "message") return store.write(() => store.inbox.told(n));
  const note = (): string => {
    store.inbox.told(n);
    return apologyFor(code);
  };
  // What follows in its conversation is answered after it, also when the disk takes these words later.
  const release = lanes.hold(message);
  try {
    const more = { code, error: new SvcError(code), keeps: true as const, ...(draft !== undefined && { draft }) };
    await endTurn(parts, message, { note, ...more });
  } finally {
    release();
  }
}
