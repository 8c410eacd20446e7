/**
 * "… is typing", and the reaction that a message has while it is answered.
 * https://docs.discord.com/developers/resources/channel#trigger-typing-indicator
 * https://docs.discord.com/developers/resources/message#create-reaction
 */
import type { Channel, Conversation } from "@svc/contract";
import type { Rest } from "../api/rest.ts";
import { idOf } from "../api/snowflake.ts";
import type { Places } from "./places.ts";

/** Ten seconds, less what the next one takes. */
const TYPING_LASTS_MS = 9_000;

type Presence = Required<Pick<Channel, "typing">> & Pick<Channel, "readMarks">;

export function presenceOf(rest: Rest, places: Places, reaction: string): Presence {
  const emoji = reaction.trim().toWellFormed();
  const react = async (method: "PUT" | "DELETE", at: Conversation, id: string, signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    // Commands have no message that could be marked.
    const messageId = idOf(id);
    if (messageId === undefined) return;
    const { channelId } = await places.find(at, signal);
    const path = `channels/${channelId}/messages/${messageId}/reactions/${encodeURIComponent(emoji)}/@me`;
    await rest.call({ method, path }, signal);
  };
  return {
    typing: {
      lastsMs: TYPING_LASTS_MS,
      async start(conversation, _messageId, signal) {
        const { channelId } = await places.find(conversation, signal);
        await rest.call({ method: "POST", path: `channels/${channelId}/typing` }, signal);
      },
    },
    ...(emoji !== "" && {
      readMarks: {
        mark: (conversation, messageId, signal) => react("PUT", conversation, messageId, signal),
        clear: (conversation, messageId, signal) => react("DELETE", conversation, messageId, signal),
      },
    }),
  };
}
