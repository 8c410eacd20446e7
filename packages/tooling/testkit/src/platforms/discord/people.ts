/** Actions of people: they create servers and channels, write, edit a message, react, use a command. */
import type { Json } from "@svc/contract";
import type { ChannelRoutes } from "./channels.ts";
import type { DiscordInteraction, DiscordInteractions } from "./interactions.ts";
import { messageEvent } from "./message.ts";
import { intentOf, type MessageRoutes } from "./messages.ts";
import { sentBy } from "./sent.ts";
import {
  channelJson,
  type DiscordChannel,
  type DiscordGuild,
  type DiscordUser,
  type DiscordWorld,
  guildJson,
  type DiscordMessage,
} from "./world.ts";

export interface DiscordWriting {
  readonly from: string;
  readonly text: string;
  /** Default: a direct message to the bot. */
  readonly channelId?: string;
  /** Milliseconds since the epoch. Default: now. */
  readonly atMs?: number;
  /** The message that it answers. */
  readonly answers?: string;
  /** Default: 0, or 19 for an answer. */
  readonly type?: number;
  readonly attachments?: readonly Json[];
  readonly embeds?: readonly Json[];
  /** Fields that it has beside these. */
  readonly more?: Readonly<Record<string, Json>>;
}

export interface DiscordPeople {
  addUser(user: Partial<DiscordUser> & { readonly id: string }): DiscordUser;
  addGuild(name?: string): DiscordGuild;
  /** Default: a channel for text. */
  addChannel(guild: DiscordGuild, more?: Partial<DiscordChannel>): DiscordChannel;
  /** The direct conversation of a person and the bot. */
  directWith(userId: string): DiscordChannel;
  write(writing: DiscordWriting): DiscordMessage;
  /** A person edits a message; the event comes before or after the message, as the test wants. */
  change(message: DiscordMessage, text: string): void;
  react(message: DiscordMessage, userId: string, emoji: string): void;
  useCommand(by: { userId: string; channelId: string; name: string; value?: string }): DiscordInteraction;
  /** A person presses the button of this label, of the question that was posted last. */
  press(userId: string, label: string): DiscordInteraction;
}

const GUILDS = 1;

export function discordPeople(
  world: DiscordWorld,
  messages: MessageRoutes,
  channels: ChannelRoutes,
  interactions: DiscordInteractions,
): DiscordPeople {
  const tell = (channel: DiscordChannel, message: DiscordMessage, type: string): void =>
    world.tell({ type, data: messageEvent(world, message), intent: intentOf(channel) });

  return {
    addUser({ id, ...user }) {
      const added = { username: `user${id.slice(-4)}`, ...user, id };
      world.users.set(id, added);
      return added;
    },
    addGuild(name = "A server") {
      const guild = { id: world.newId(), name, roleId: world.newId(), joinedAtMs: world.nowMs, nicks: new Map() };
      world.guilds.set(guild.id, guild);
      world.tell({ type: "GUILD_CREATE", data: guildJson(world, guild), intent: GUILDS });
      return guild;
    },
    addChannel(guild, more = {}) {
      const id = world.newId();
      const made = {
        id,
        type: 0,
        guildId: guild.id,
        name: "general",
        denied: new Set<never>(),
        messages: new Map(),
        ...more,
      };
      world.channels.set(id, made);
      const isThread = made.type >= 10 && made.type <= 12;
      world.tell({
        type: isThread ? "THREAD_CREATE" : "CHANNEL_CREATE",
        data: channelJson(world, made),
        intent: GUILDS,
      });
      return made;
    },
    directWith: (userId) => channels.directWith(userId),
    write({ from, text, channelId, atMs, answers, type, attachments = [], embeds = [], more = {} }) {
      const channel = channelId === undefined ? channels.directWith(from) : world.channels.get(channelId)!;
      world.nowMs = Math.max(world.nowMs, atMs ?? 0);
      return messages.post(channel, {
        authorId: from,
        content: text,
        type: type ?? (answers === undefined ? 0 : 19),
        attachments,
        embeds,
        more,
        ...(answers !== undefined && { reference: answers }),
      });
    },
    change(message, text) {
      message.content = text;
      message.editedAtMs = world.nowMs;
      tell(world.channels.get(message.channelId)!, message, "MESSAGE_UPDATE");
    },
    react: (message, userId, emoji) =>
      channels.reaction(world.channels.get(message.channelId)!, message.id, emoji, userId, true),
    useCommand: (by) => interactions.command(by),
    press(userId, label) {
      const asked = sentBy(world).findLast(({ buttons }) => buttons.includes(label));
      if (asked === undefined) throw new Error(`there is no button ${label}`);
      const customId = asked.customIds[asked.buttons.indexOf(label)]!;
      return interactions.press({ userId, message: asked.message, customId });
    },
  };
}
