/** Channels, threads, reactions, and the menu of commands. */
import type { Json } from "@svc/contract";
import type { PlatformReply, PlatformRequest } from "../base.ts";
import { channelFor, messageIn } from "./access.ts";
import { bodyOf, parsed } from "./body.ts";
import { refusal } from "./errors.ts";
import { intentOf } from "./messages.ts";
import { COMMANDS, OPEN_DIRECT, START_THREAD } from "./schemas.ts";
import { channelJson, type DiscordChannel, type DiscordWorld } from "./world.ts";

const GUILDS = 1;
const GUILD_MESSAGE_REACTIONS = 1 << 10;
const DIRECT_MESSAGE_REACTIONS = 1 << 13;

export interface ChannelRoutes {
  /** Of a person; there is one. */
  directWith(userId: string): DiscordChannel;
  openDirect(request: PlatformRequest): Promise<PlatformReply>;
  /** https://docs.discord.com/developers/resources/channel#start-thread-from-message */
  startThread(channelId: string, messageId: string, request: PlatformRequest): Promise<PlatformReply>;
  react(channelId: string, messageId: string, emoji: string, method: string): PlatformReply;
  /** A person reacts; the sessions get the event. */
  reaction(channel: DiscordChannel, messageId: string, emoji: string, userId: string, isOn: boolean): void;
  commands(applicationId: string, request: PlatformRequest): Promise<PlatformReply>;
}

export function channelRoutes(world: DiscordWorld): ChannelRoutes {
  let registered: Record<string, Json>[] = [];

  function directWith(userId: string): DiscordChannel {
    const known = [...world.channels.values()].find(({ recipientId }) => recipientId === userId);
    if (known !== undefined) return known;
    const id = world.newId();
    const channel = { id, type: 1, recipientId: userId, name: "", denied: new Set<never>(), messages: new Map() };
    world.channels.set(id, channel);
    return channel;
  }

  function reaction(channel: DiscordChannel, messageId: string, emoji: string, userId: string, isOn: boolean): void {
    const message = messageIn(channel, messageId);
    const who = message.reactions.get(emoji) ?? new Set();
    if (isOn) who.add(userId);
    else who.delete(userId);
    message.reactions.set(emoji, who);
    world.tell({
      type: isOn ? "MESSAGE_REACTION_ADD" : "MESSAGE_REACTION_REMOVE",
      intent: intentOf(channel) === 1 << 12 ? DIRECT_MESSAGE_REACTIONS : GUILD_MESSAGE_REACTIONS,
      data: {
        user_id: userId,
        channel_id: channel.id,
        message_id: messageId,
        emoji: { id: null, name: emoji },
        burst: false,
        type: 0,
        ...(channel.guildId !== undefined && { guild_id: channel.guildId }),
        ...(isOn && { message_author_id: message.authorId }),
      },
    });
  }

  return {
    directWith,
    reaction,
    async openDirect(request) {
      const { recipient_id: id } = parsed(OPEN_DIRECT, (await bodyOf(request)).json);
      const user = world.users.get(id);
      if (user === undefined || user.isBot === true) throw refusal("unknownUser");
      return { json: channelJson(world, directWith(id)) };
    },
    async startThread(channelId, messageId, request) {
      const { name } = parsed(START_THREAD, (await bodyOf(request)).json);
      const parent = channelFor(world, channelId, "threads");
      if (parent.type !== 0 && parent.type !== 5) throw refusal("wrongChannelType");
      const message = messageIn(parent, messageId);
      if (message.threadId !== undefined) throw refusal("hasThread");
      message.threadId = messageId;
      const thread: DiscordChannel = {
        id: messageId,
        type: parent.type === 0 ? 11 : 10,
        parentId: parent.id,
        ownerId: world.bot.id,
        name,
        isJoined: true,
        denied: new Set(),
        messages: new Map(),
        ...(parent.guildId !== undefined && { guildId: parent.guildId }),
      };
      world.channels.set(thread.id, thread);
      const json = channelJson(world, thread);
      world.tell({ type: "THREAD_CREATE", data: { ...json, newly_created: true }, intent: GUILDS });
      return { status: 201, json };
    },
    react(channelId, messageId, emoji, method) {
      const channel = channelFor(world, channelId, "history", "react");
      // A name and an id for those of a server; else a character, which has no letters.
      if (!/^\w{2,32}:\d{1,20}$/.test(emoji) && !/^\p{Extended_Pictographic}/u.test(emoji))
        throw refusal("unknownEmoji");
      reaction(channel, messageId, emoji, world.bot.id, method === "PUT");
      return { status: 204 };
    },
    async commands(applicationId, request) {
      if (applicationId !== world.applicationId) throw refusal("unknownApplication");
      if (request.method === "PUT") {
        const commands = parsed(COMMANDS, (await bodyOf(request)).json);
        registered = commands.map((command) => ({
          ...(command as unknown as Record<string, Json>),
          id: world.newId(),
          application_id: applicationId,
          version: world.newId(),
          type: 1,
          default_member_permissions: null,
          nsfw: false,
        }));
      }
      return { json: registered };
    },
  };
}
