import type { InboxMessage } from "@svc/store";
import type { InboxParts } from "./parts.ts";

/** What is left of a message that is over, whichever way: what its sender was shown while it was worked on is taken back. */
export function messageOver({ presence, drafts, settings }: InboxParts, message: InboxMessage): void {
  presence.clearMark(settings().channels.get(message.channel), message);
  drafts.forget(message.n);
}
