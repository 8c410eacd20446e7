/** Where a message goes, as the platform wants to be told. */
import { type Conversation, SvcError } from "@svc/contract";
import type { WebApi } from "../api/web-api.ts";
import { fieldsOf } from "../fields.ts";
import { conversationId, timestamp, userId } from "../ids.ts";

export interface Places {
  /**
   * The conversation's id; of a person's the direct messages, which are opened; of a channel's name the name. Throws
   * DELIVERY_REFUSED for what is none of these, and as `WebApi`.
   */
  of(conversation: Conversation, signal: AbortSignal): Promise<string>;
}

export function placesOf(api: WebApi): Places {
  /** By person. It never changes. */
  const opened = new Map<string, string>();
  return {
    async of({ id }, signal) {
      const user = userId(id);
      if (user === undefined) return placeNamed(id);
      const known = opened.get(user);
      if (known !== undefined) return known;
      const { channel } = await api.call("conversations.open", { users: user }, signal);
      const found = conversationId(fieldsOf(channel)["id"]);
      if (found === undefined)
        throw new SvcError("DELIVERY_FAILED", "Slack opened a conversation and told no id of it.");
      for (const oldest of opened.keys()) if (opened.size >= MOST_OPENED) opened.delete(oldest);
      opened.set(user, found);
      return found;
    },
  };
}

const MOST_OPENED = 5_000;

function placeNamed(id: string): string {
  if (conversationId(id) !== undefined) return id;
  if (/^#?[\p{L}\p{N}][\p{L}\p{N}._-]{0,79}$/u.test(id) && id === id.toLowerCase()) return `#${id.replace(/^#/, "")}`;
  throw new SvcError("DELIVERY_REFUSED", "This is no conversation, person or channel of Slack's.", {
    hint: "Copy the channel's id (C…) from its details, or the person's (U…) from the profile.",
  });
}

/** The thread of a conversation. Throws DELIVERY_REFUSED for what is none of the platform's. */
export function threadOf({ thread }: Conversation): string | undefined {
  if (thread === undefined || timestamp(thread) !== undefined) return thread;
  throw new SvcError("DELIVERY_REFUSED", "This is no thread of Slack's.");
}
