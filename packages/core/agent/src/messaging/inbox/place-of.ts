/** Whose turn a message's is, and in which session: of a channel's conversation, or of whoever asked by HTTP. */
import type { ClientId, Inbound } from "@svc/contract";
import type { Author, InboxMessage } from "@svc/store";
import { authorOfSender, sessionIn } from "../session-message.ts";
import type { InboxParts } from "./parts.ts";

export interface MessagePlace {
  /** Who the tools see. */
  readonly clientId: ClientId;
  readonly owner: ClientId;
  readonly session: string;
  /** Who wrote it. */
  readonly author: Author;
  /** Its owner was shut out since it came in. */
  readonly isGone: boolean;
}

export function placeOf(
  { identity }: Pick<InboxParts, "identity">,
  { channel, lane, turnId, body }: Pick<InboxMessage, "channel" | "lane" | "turnId" | "body">,
): MessagePlace {
  const { owner, session } = sessionIn(lane) ?? {};
  const { sender } = body as unknown as Inbound;
  if (owner !== undefined && session !== undefined) {
    return { session, author: authorOfSender(sender), ...identity.ofSession(owner, turnId) };
  }
  const clientId = identity.sender(channel, sender);
  const author: Author = { kind: "person", id: sender };
  return { clientId, owner: identity.channel(channel), session: lane, author, isGone: false };
}
