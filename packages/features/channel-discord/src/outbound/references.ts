import type { OutgoingMessage } from "@svc/contract";
import { replyDataOf } from "./reply-data.ts";

export interface References {
  /** The message that this one is shown to answer. */
  of(message: Pick<OutgoingMessage, "replyData" | "deliveryId">): string | undefined;
}

/** The first of all that is said in answer to a message; a long answer would quote it with each of its parts. */
export function references(): References {
  const first = new Map<string, string>();
  return {
    of(message) {
      const { messageId } = replyDataOf(message);
      if (messageId === undefined) return undefined;
      const by = first.get(messageId) ?? message.deliveryId;
      first.set(messageId, by);
      for (const oldest of first.keys()) if (first.size > MOST) first.delete(oldest);
      return by === message.deliveryId ? messageId : undefined;
    },
  };
}

const MOST = 1000;
