import type { ClientId, Conversation } from "@svc/contract";

/**
 * The lane of a conversation: its messages are answered, and its answers delivered, one after the other. A JSON list,
 * because ids are the platform's: joined by any character, two conversations could become one.
 */
export function laneOf({ channel, id, thread }: Conversation): string {
  return JSON.stringify(thread === undefined ? [channel, id] : [channel, id, thread]);
}

/** The lanes of a chat, in whatever thread: `from` ≤ lane < `before`, by the order of their bytes. */
export function lanesOf({ channel, id }: Pick<Conversation, "channel" | "id">): { from: string; before: string } {
  // Up to the quote that ends the id. No other id goes on after it: a quote within one has a backslash before it.
  const from = JSON.stringify([channel, id]).slice(0, -1);
  return { from, before: `${from.slice(0, -1)}#` };
}

/**
 * The lane of a session of the HTTP API, whose caller does not wait for the answer. It names the session and its owner: no channel
 * can make such a key, or its senders could write in the name of any client.
 */
export const keyOfSession = (owner: ClientId, session: string): string =>
  `${keysOfOwner(owner)}${JSON.stringify(session)}]}`;

/** Undefined: a conversation of a channel, or the key of notices. */
export function sessionIn(lane: string): { readonly owner: string; readonly session: string } | undefined {
  if (!lane.startsWith(BEGINNING)) return undefined;
  const [owner, session] = (JSON.parse(lane) as { session: [string, string] }).session;
  return { owner, session };
}

/** What the keys of an owner begin with. */
export const keysOfOwner = (owner: ClientId): string => `${BEGINNING}${JSON.stringify(owner)},`;

const BEGINNING = '{"session":[';
