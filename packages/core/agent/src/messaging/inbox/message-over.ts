import type { ErrorCode } from "@svc/contract";
import type { InboxMessage } from "@svc/store";
import type { InboxParts } from "./parts.ts";

/**
 * What is left of a message that is over, whichever way: what its sender was shown while it was worked on is taken back.
 * `error`: of one that got no answer.
 */
export function messageOver(
  { presence, drafts, waits, settings }: InboxParts,
  message: InboxMessage,
  error?: ErrorCode,
): void {
  presence.clearMark(settings().channels.get(message.channel), message);
  drafts.forget(message.n);
  waits.over(message.n, error);
}
