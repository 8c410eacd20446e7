/** What of the servers decides whether a message is meant for the bot: its role there, and the threads that it is in. */
import { type Fields, fieldsOf, listOf } from "../api/fields.ts";
import { idOf } from "../api/snowflake.ts";

export interface Rooms {
  /** Of an event about a server, a role or a thread; others tell nothing. */
  learn(type: string, data: Fields): void;
  setSelf(userId: string): void;
  /** The role that the platform made for the bot there. */
  ownRole(guildId: string): string | undefined;
  /** The bot opened it, or was mentioned there. */
  isJoined(threadId: string): boolean;
}

export function rooms(): Rooms {
  const roles = new Map<string, string>();
  const joined = new Set<string>();
  let self: string | undefined;

  const role = (guildId: string | undefined, { id, tags }: Fields): void => {
    const roleId = idOf(id);
    const isOwn = self !== undefined && fieldsOf(tags)["bot_id"] === self;
    if (guildId !== undefined && roleId !== undefined && isOwn) roles.set(guildId, roleId);
  };
  const thread = ({ id, member, owner_id: owner }: Fields): void => {
    const threadId = idOf(id);
    const isIn = (self !== undefined && owner === self) || typeof member === "object";
    if (threadId !== undefined && isIn) joined.add(threadId);
  };
  const leave = (id: string | undefined): void => {
    if (id !== undefined) joined.delete(id);
  };

  const readers: Readonly<Record<string, (data: Fields) => void>> = {
    GUILD_CREATE(guild) {
      for (const one of listOf(guild["roles"])) role(idOf(guild["id"]), fieldsOf(one));
      for (const one of listOf(guild["threads"])) thread(fieldsOf(one));
    },
    GUILD_ROLE_CREATE: (data) => role(idOf(data["guild_id"]), fieldsOf(data["role"])),
    GUILD_ROLE_UPDATE: (data) => role(idOf(data["guild_id"]), fieldsOf(data["role"])),
    THREAD_CREATE: thread,
    THREAD_UPDATE: thread,
    THREAD_DELETE: ({ id }) => leave(idOf(id)),
    THREAD_LIST_SYNC({ threads, members }) {
      for (const one of listOf(threads)) thread(fieldsOf(one));
      for (const one of listOf(members)) thread({ id: fieldsOf(one)["id"] ?? null, member: {} });
    },
    THREAD_MEMBERS_UPDATE({ id, added_members: added, removed_member_ids: removed }) {
      if (listOf(added).some((one) => fieldsOf(one)["user_id"] === self)) thread({ id: id ?? null, member: {} });
      if (self !== undefined && listOf(removed).includes(self)) leave(idOf(id));
    },
  };

  return {
    learn(type, data) {
      if (Object.hasOwn(readers, type)) readers[type]?.(data);
    },
    setSelf: (userId) => void (self = userId),
    ownRole: (guildId) => roles.get(guildId),
    isJoined: (threadId) => joined.has(threadId),
  };
}
