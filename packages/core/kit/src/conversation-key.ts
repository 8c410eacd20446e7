import type { ClientId, Conversation } from "@svc/contract";

/**
 * The key of a conversation: messages of one key are answered, and their answers delivered, one after the other. A JSON list, because
 * ids are the platform's: joined by any character, two conversations could become one.
 */
export function keyOfConversation({ channel, id, thread }: Conversation): string {
  return JSON.stringify(thread === undefined ? [channel, id] : [channel, id, thread]);
}

/** The keys of a chat, in whatever thread: `from` ≤ key < `before`, by the order of their bytes. */
export function keysOfChat({ channel, id }: Pick<Conversation, "channel" | "id">): { from: string; before: string } {
  // Up to the quote that ends the id. No other id goes on after it: a quote within one has a backslash before it.
  const from = JSON.stringify([channel, id]).slice(0, -1);
  return { from, before: `${from.slice(0, -1)}#` };
}

/**
 * The key of a session of the HTTP API, whose caller does not wait for the answer. It names the session and its owner: no channel
 * can make such a key, or its senders could write in the name of any client.
 */
export const keyOfSession = (owner: ClientId, session: string): string =>
  `${keysOfOwner(owner)}${JSON.stringify(session)}]}`;

/** Undefined: a conversation of a channel, or the key of notices. */
export function sessionIn(key: string): { readonly owner: string; readonly session: string } | undefined {
  if (!key.startsWith(BEGINNING)) return undefined;
  const [owner, session] = (JSON.parse(key) as { session: [string, string] }).session;
  return { owner, session };
}

/** What the keys of an owner begin with. */
export const keysOfOwner = (owner: ClientId): string => `${BEGINNING}${JSON.stringify(owner)},`;

const BEGINNING = '{"session":[';
