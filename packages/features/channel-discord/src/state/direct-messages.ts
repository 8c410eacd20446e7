/**
 * Whose direct messages are in which channel. The platform lists none of them to a bot, so what is not known here can't be
 * looked through after a time without a connection.
 */
import type { StateStore } from "@svc/contract";
import { parseJson } from "@svc/kit";
import { fieldsOf, listOf } from "../api/fields.ts";
import type { Rest } from "../api/rest.ts";
import { unreadable } from "../api/rest.ts";
import { idOf } from "../api/snowflake.ts";

export interface DirectMessages {
  /** The channel of this person; opened where there is none yet. Throws as `Rest.call`. */
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
