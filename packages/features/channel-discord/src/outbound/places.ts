/** Where a conversation is on the platform: a channel or a thread by its id, or a person by `user:<id>`. */
import { type Conversation, SvcError } from "@svc/contract";
import { fieldsOf, numberOf } from "../api/fields.ts";
import type { Rest } from "../api/rest.ts";
import { idOf } from "../api/snowflake.ts";
import type { DirectMessages } from "../state/direct-messages.ts";

export interface Places {
  /** `opened`: it is the channel of a person, in which answers come in. Throws DELIVERY_REFUSED for no place at all. */
  find(conversation: Conversation, signal: AbortSignal): Promise<Place>;
  /** Whether a thread can be opened from a message there. */
  hasThreads(channelId: string, signal: AbortSignal): Promise<boolean>;
}

export interface Place {
  readonly channelId: string;
  readonly opened?: Conversation;
}

export function placesBy(rest: Rest, direct: Pick<DirectMessages, "open">): Places {
  const withThreads = new Map<string, boolean>();
  return {
    async find({ channel, id, thread }, signal) {
      const [, userId] = /^user:(\d+)$/.exec(id) ?? [];
      if (userId === undefined) {
        const channelId = idOf(thread ?? id);
        if (channelId === undefined) throw nowhere();
        return { channelId };
      }
      if (idOf(userId) === undefined) throw nowhere();
      const channelId = await direct.open(userId, signal);
      return { channelId, opened: { channel, id: channelId } };
    },
    async hasThreads(channelId, signal) {
      const known = withThreads.get(channelId);
      if (known !== undefined) return known;
      const type = numberOf(fieldsOf(await rest.call({ path: `channels/${channelId}` }, signal))["type"]);
      if (withThreads.size >= MOST) withThreads.clear();
      withThreads.set(channelId, type === GUILD_TEXT || type === GUILD_ANNOUNCEMENT);
      return withThreads.get(channelId)!;
    },
  };
}

const MOST = 1000;

/** https://docs.discord.com/developers/resources/channel#channel-object-channel-types */
const GUILD_TEXT = 0;
const GUILD_ANNOUNCEMENT = 5;

const nowhere = (): SvcError =>
  new SvcError("DELIVERY_REFUSED", "This is no conversation of the platform.", {
    hint: "Name a channel or thread by its id, or a person as user:<id>: in the app under Copy ID.",
  });
