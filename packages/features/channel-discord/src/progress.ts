/** What people see while an answer is made: a draft that grows, “… is typing”, a reaction. */
import type { Channel, Conversation, Drafts } from "@svc/contract";
import type { Config } from "./config.ts";
import type { Places } from "./places.ts";
import { idOf } from "./protocol.ts";
import type { Rest } from "./rest.ts";
import { saying, sentId } from "./send.ts";

// https://docs.discord.com/developers/resources/message#edit-message

/** Five in five seconds of one channel; one second less than that no one gets. */
const LEAST_MS = 1_000;

/** Undefined: answers are sent when they are complete. */
export function draftsBy(
  rest: Rest,
  places: Places,
  { stream_mode: mode, draft_update_interval_ms: intervalMs }: Config,
): Drafts | undefined {
  if (mode === "off") return undefined;
  return {
    mode,
    intervalMs: () => Math.max(LEAST_MS, intervalMs),
    async edit({ conversation, platformId }, text, signal) {
      signal.throwIfAborted();
      const id = sentId(platformId);
      const { channelId } = await places.find(conversation, signal);
      await rest.call({ method: "PATCH", path: `channels/${channelId}/messages/${id}`, json: saying(text) }, signal);
    },
  };
}

// "… is typing", and the reaction that a message has while it is answered.
// https://docs.discord.com/developers/resources/channel#trigger-typing-indicator
// https://docs.discord.com/developers/resources/message#create-reaction

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
