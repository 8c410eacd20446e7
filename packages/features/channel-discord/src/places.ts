/** Where a conversation is on the platform: a channel or a thread by its id, or a person by `user:<id>`. */
import { type Conversation, type StateStore, SvcError } from "@svc/contract";
import { parseJson } from "@svc/kit";
import { fieldsOf, idOf, listOf, numberOf } from "./protocol.ts";
import { type Rest, unreadable } from "./rest.ts";

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
      if (withThreads.size >= MOST_PLACES) withThreads.clear();
      withThreads.set(channelId, type === GUILD_TEXT || type === GUILD_ANNOUNCEMENT);
      return withThreads.get(channelId)!;
    },
  };
}

const MOST_PLACES = 1000;

/** https://docs.discord.com/developers/resources/channel#channel-object-channel-types */
const GUILD_TEXT = 0;
const GUILD_ANNOUNCEMENT = 5;

const nowhere = (): SvcError =>
  new SvcError("DELIVERY_REFUSED", "This is no conversation of the platform.", {
    hint: "Name a channel or thread by its id, or a person as user:<id>: in the app under Copy ID.",
  });

/**
 * The direct message channel of each person. The platform does not list them for a bot, so missed messages are found only in the
 * channels stored here.
 */
export interface DirectMessages {
  /** The channel of this person; opened where it is missing yet. Throws as `Rest.call`. */
  open(userId: string, signal: AbortSignal): Promise<string>;
  /** Resolves once it is on disk. */
  met(userId: string, channelId: string): Promise<void>;
  /** Those who wrote last come first. */
  channels(): Promise<string[]>;
  knows(userId: string): Promise<boolean>;
}

/** Who is forgotten is known again with the next message. */
const MOST = 500;
const NAME = "direct-messages";

export function directMessagesIn(state: StateStore, rest: Rest): DirectMessages {
  let loading: Promise<Map<string, string>> | undefined;
  const load = (): Promise<Map<string, string>> =>
    (loading ??= state.get(NAME).then(knownOf, (error: unknown) => {
      loading = undefined;
      throw error;
    }));
  const met: DirectMessages["met"] = async (userId, channelId) => {
    const known = await load();
    if ([...known.keys()].at(-1) === userId && known.get(userId) === channelId) return;
    const isNew = known.get(userId) !== channelId;
    known.delete(userId);
    known.set(userId, channelId);
    for (const oldest of known.keys()) if (known.size > MOST) known.delete(oldest);
    // The order alone is not worth the disk.
    if (isNew) await state.set(NAME, JSON.stringify([...known]));
  };
  return {
    met,
    async open(userId, signal) {
      const known = (await load()).get(userId);
      if (known !== undefined) return known;
      const json = await rest.call({ path: "users/@me/channels", json: { recipient_id: userId } }, signal);
      const channelId = idOf(fieldsOf(json)["id"]);
      if (channelId === undefined) throw unreadable();
      await met(userId, channelId);
      return channelId;
    },
    channels: async () => [...(await load()).values()].toReversed(),
    knows: async (userId) => (await load()).has(userId),
  };
}

function knownOf(text: string | undefined): Map<string, string> {
  const list = text === undefined ? [] : listOf(parseJson(Buffer.from(text)));
  const pairs = list.map(listOf).filter(([user, channel]) => idOf(user) !== undefined && idOf(channel) !== undefined);
  return new Map(pairs as unknown as [string, string][]);
}
