/** A message as the platform keeps it and shows it. https://docs.discord.com/developers/resources/message#message-object */
import type { Json } from "@svc/contract";
import { type DiscordMessage, type DiscordWorld, memberJson, userJson } from "./world.ts";

export function messageJson(world: DiscordWorld, message: DiscordMessage, isQuoted = false): Record<string, Json> {
  const { id, channelId, authorId, atMs, type, content, editedAtMs, flags, components, attachments, embeds } = message;
  const author = world.users.get(authorId);
  const channel = world.channels.get(channelId);
  const quoted = message.reference === undefined ? undefined : channel?.messages.get(message.reference);
  return {
    id,
    channel_id: channelId,
    author: author === undefined ? { id: authorId, username: "someone" } : userJson(author),
    content,
    timestamp: new Date(atMs).toISOString().replace("Z", "000+00:00"),
    edited_timestamp: editedAtMs === undefined ? null : new Date(editedAtMs).toISOString(),
    tts: false,
    mention_everyone: false,
    mentions: mentionedUsers(world, content, quoted),
    mention_roles: [...content.matchAll(/<@&(\d+)>/g)].map(([, role]) => role as string),
    attachments: [...attachments],
    embeds: [...embeds],
    components: [...components],
    pinned: false,
    type,
    flags,
    ...(message.nonce !== undefined && { nonce: message.nonce }),
    ...(message.reference !== undefined && {
      message_reference: { type: 0, message_id: message.reference, channel_id: channelId },
      ...(!isQuoted && { referenced_message: quoted === undefined ? null : messageJson(world, quoted, true) }),
    }),
    ...message.more,
  };
}

/** Those whom it names, and whose message it answers. */
function mentionedUsers(world: DiscordWorld, content: string, quoted: DiscordMessage | undefined): Json[] {
  const ids = new Set([...content.matchAll(/<@!?(\d+)>/g)].map(([, id]) => id as string));
  if (quoted !== undefined) ids.add(quoted.authorId);
  return [...ids].flatMap((id) => {
    const user = world.users.get(id);
    return user === undefined ? [] : [userJson(user)];
  });
}

/** As others see it in the channel. */
export const messageEvent = (world: DiscordWorld, message: DiscordMessage): Record<string, Json> => {
  const { guildId } = world.channels.get(message.channelId) ?? {};
  const onServer =
    guildId === undefined ? {} : { guild_id: guildId, member: memberJson(world, guildId, message.authorId) };
  return { ...messageJson(world, message), ...onServer };
};
