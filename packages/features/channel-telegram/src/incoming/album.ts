/**
 * An album, which the platform hands over as a message for each of its pictures: one message with all of them, and the text
 * of whichever has one.
 */
import type { Inbound } from "@svc/contract";
import type { ReadMessage } from "./message.ts";
import type { ReadUpdate } from "./update.ts";

/** In the order of the updates; without what is not meant for us. */
export function inboundOf(updates: readonly ReadUpdate[]): Inbound[] {
  const albums = new Map<string, ReadMessage[]>();
  for (const { message } of updates) {
    if (message?.albumId === undefined) continue;
    albums.set(keyOf(message), [...(albums.get(keyOf(message)) ?? []), message]);
  }
  return updates.flatMap(({ message, inbound }) => {
    if (message === undefined) return inbound ?? [];
    const album = albums.get(keyOf(message)) ?? [message];
    return album[0] === message && album.some(({ isForUs }) => isForUs) ? whole(album) : [];
  });
}

/** Its id is the platform's, but nothing keeps two chats from the same one. */
const keyOf = ({ albumId = "", inbound }: ReadMessage): string =>
  JSON.stringify([inbound.conversation.id, inbound.sender, albumId]);

function whole([first, ...others]: readonly ReadMessage[]): Inbound {
  const { inbound } = first as ReadMessage;
  if (others.length === 0) return inbound;
  const media = [inbound, ...others.map((other) => other.inbound)].flatMap((one) => one.media ?? []);
  return { ...inbound, text: [inbound.text, ...others.map(({ said }) => said)].join("\n"), media };
}

/** Whether the rest of an album may still be on its way. */
export const endsInAlbum = (updates: readonly ReadUpdate[]): boolean => updates.at(-1)?.message?.albumId !== undefined;
