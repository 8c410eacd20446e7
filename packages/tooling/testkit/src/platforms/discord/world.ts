/** What is on the platform: people, servers, channels, messages; and who is told when something happens. */
import type { Json } from "@svc/contract";

export type DiscordPermission = "view" | "send" | "history" | "react" | "threads";

export interface DiscordUser {
  readonly id: string;
  readonly username: string;
  readonly globalName?: string;
  readonly isBot?: boolean;
  /** Default: true. */
  takesMessages?: boolean;
}

export interface DiscordChannel {
  readonly id: string;
  /** 0 text, 1 direct, 5 announcement, 11 public thread, 15 forum. */
  readonly type: number;
  readonly guildId?: string;
  readonly parentId?: string;
  readonly ownerId?: string;
  readonly recipientId?: string;
  readonly name: string;
  /** The bot is a member of the thread. */
  isJoined?: boolean;
  isLocked?: boolean;
  /** What the bot may not do there. */
  readonly denied: Set<DiscordPermission>;
  readonly messages: Map<string, DiscordMessage>;
}

export interface DiscordMessage {
  readonly id: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly atMs: number;
  /** 0 plain, 19 an answer, 20 an answer to a command. */
  readonly type: number;
  content: string;
  editedAtMs?: number;
  flags: number;
  components: readonly Json[];
  attachments: readonly Json[];
  readonly embeds: readonly Json[];
  readonly reference?: string;
  readonly nonce?: Json;
  /** By emoji, who. */
  readonly reactions: Map<string, Set<string>>;
  /** The thread that was opened from it. */
  threadId?: string;
  /** Fields that a test gives it. */
  readonly more: Readonly<Record<string, Json>>;
}

export interface DiscordGuild {
  readonly id: string;
  readonly name: string;
  /** The role that the platform made for the bot. */
  readonly roleId: string;
  readonly joinedAtMs: number;
  readonly nicks: Map<string, string>;
}

/** Where a dispatch goes: `intent` is the bit that has to be asked for. */
export interface DiscordDispatch {
  readonly type: string;
  readonly data: Readonly<Record<string, Json>>;
  readonly intent: number;
}

export interface DiscordWorld {
  readonly bot: DiscordUser;
  readonly applicationId: string;
  readonly users: Map<string, DiscordUser>;
  readonly guilds: Map<string, DiscordGuild>;
  readonly channels: Map<string, DiscordChannel>;
  /** Milliseconds since the epoch; messages move it on. */
  nowMs: number;
  newId(): string;
  /** Told to every session that asked for it. */
  tell: (dispatch: DiscordDispatch) => void;
}

const EPOCH_MS = 1_420_070_400_000;

export function discordWorld(nowMs: number): DiscordWorld {
  let count = 0;
  const world: DiscordWorld = {
    bot: { id: "1080000000000000001", username: "helper", isBot: true },
    applicationId: "1080000000000000002",
    users: new Map(),
    guilds: new Map(),
    channels: new Map(),
    nowMs,
    newId: () => String((BigInt(world.nowMs - EPOCH_MS) << 22n) + BigInt((count += 1))),
    tell: () => undefined,
  };
  world.users.set(world.bot.id, world.bot);
  return world;
}

export const userJson = ({ id, username, globalName, isBot }: DiscordUser): Record<string, Json> => ({
  id,
  username,
  global_name: globalName ?? null,
  discriminator: isBot === true ? "1234" : "0",
  avatar: null,
  public_flags: 0,
  ...(isBot === true && { bot: true }),
});

export const memberJson = (world: DiscordWorld, guildId: string, userId: string): Record<string, Json> => ({
  nick: world.guilds.get(guildId)?.nicks.get(userId) ?? null,
  roles: [],
  avatar: null,
  joined_at: new Date(EPOCH_MS).toISOString(),
  premium_since: null,
  deaf: false,
  mute: false,
  flags: 0,
});

const isThread = ({ type }: DiscordChannel): boolean => type >= 10 && type <= 12;

/** https://docs.discord.com/developers/resources/channel#channel-object */
export function channelJson(world: DiscordWorld, channel: DiscordChannel): Record<string, Json> {
  const { id, type, guildId, parentId, ownerId, recipientId, name } = channel;
  const recipient = world.users.get(recipientId ?? "");
  return {
    id,
    type,
    last_message_id: [...channel.messages.keys()].at(-1) ?? null,
    flags: 0,
    ...(recipient === undefined ? { name } : { recipients: [userJson(recipient)] }),
    ...(guildId !== undefined && { guild_id: guildId, permission_overwrites: [], position: 0, nsfw: false }),
    ...(parentId !== undefined && { parent_id: parentId }),
    ...(isThread(channel) && {
      owner_id: ownerId ?? "",
      message_count: channel.messages.size,
      member_count: 1,
      thread_metadata: {
        archived: false,
        auto_archive_duration: 1440,
        archive_timestamp: new Date(world.nowMs).toISOString(),
        locked: channel.isLocked === true,
      },
      ...(channel.isJoined === true && { member: { join_timestamp: new Date(world.nowMs).toISOString(), flags: 0 } }),
    }),
  };
}

/** https://docs.discord.com/developers/events/gateway-events#guild-create */
export function guildJson(world: DiscordWorld, { id, name, roleId, joinedAtMs }: DiscordGuild): Record<string, Json> {
  const channels = [...world.channels.values()].filter(({ guildId }) => guildId === id);
  const role = { color: 0, hoist: false, position: 0, permissions: "0", mentionable: false, flags: 0 };
  return {
    id,
    name,
    joined_at: new Date(joinedAtMs).toISOString(),
    large: false,
    unavailable: false,
    member_count: 2,
    owner_id: world.bot.id,
    roles: [
      { id, name: "@everyone", managed: false, ...role },
      { id: roleId, name: world.bot.username, managed: true, tags: { bot_id: world.bot.id }, ...role },
    ],
    channels: channels.filter((one) => !isThread(one)).map((one) => channelJson(world, one)),
    threads: channels.filter(isThread).map((one) => channelJson(world, one)),
    ...Object.fromEntries(EMPTY_LISTS.map((key) => [key, []])),
    ...PLAIN,
  };
}

const EMPTY_LISTS = [
  "emojis",
  "features",
  "guild_scheduled_events",
  "members",
  "presences",
  "soundboard_sounds",
  "stage_instances",
  "stickers",
  "voice_states",
];
const PLAIN = {
  afk_channel_id: null,
  afk_timeout: 300,
  default_message_notifications: 0,
  explicit_content_filter: 0,
  mfa_level: 0,
  nsfw_level: 0,
  preferred_locale: "en-US",
  premium_tier: 0,
  system_channel_flags: 0,
  verification_level: 0,
};
