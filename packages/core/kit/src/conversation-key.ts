import type { Conversation } from "@svc/contract";

/**
 * The lane of a conversation: its messages are answered, and its answers delivered, one after the other. A JSON list,
 * because ids are the platform's: joined by any character, two conversations could become one.
 */
export function laneOf({ channel, id, thread }: Conversation): string {
  return JSON.stringify(thread === undefined ? [channel, id] : [channel, id, thread]);
}
