/**
 * A message of a caller of the HTTP API that does not wait for its answer. It belongs to a session of that caller, and to no
 * conversation of the channel that delivers the answer. Its key names the session: no channel can make such a key, and a client that
 * could name an owner could be anybody.
 */
import type { ClientId, Conversation, Json } from "@svc/contract";
import type { Author, NewMessage } from "@svc/store";

export interface SessionMessage {
  readonly owner: ClientId;
  /** Name of the session. */
  readonly session: string;
  /** Where the answer goes: the same for nobody else's session. */
  readonly conversation: Conversation;
  /** For a person: whose it is. */
  readonly sender: string;
  readonly text: string;
  /** Handed to the channel with the answer. */
  readonly replyData: Json;
}

export function sessionMessageOf({ owner, session, ...inbound }: SessionMessage): NewMessage {
  return { kind: "message", lane: keyOfSession(owner, session), body: inbound as unknown as Json };
}

/** Undefined: a conversation of a channel, or the key of notices. */
export function sessionIn(lane: string): { readonly owner: string; readonly session: string } | undefined {
  if (!lane.startsWith(BEGINNING)) return undefined;
  const [owner, session] = (JSON.parse(lane) as { session: [string, string] }).session;
  return { owner, session };
}

/** Who wrote such a message, by its sender. */
export const authorOfSender = (sender: string): Author =>
  sender === ANONYMOUS ? { kind: "anonymous" } : { kind: "device", id: sender };

/** Sender of what came without a token. */
const ANONYMOUS = "anonymous";

/** What the keys of an owner begin with. */
export const keysOfOwner = (owner: ClientId): string => `${BEGINNING}${JSON.stringify(owner)},`;

const BEGINNING = '{"session":[';
export const keyOfSession = (owner: ClientId, session: string): string =>
  `${keysOfOwner(owner)}${JSON.stringify(session)}]}`;
