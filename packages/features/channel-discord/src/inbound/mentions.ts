/**
 * `<@id>` and the like, as people read them.
 * https://docs.discord.com/developers/reference#message-formatting
 */
import { type Fields, fieldsOf, listOf } from "../api/fields.ts";
import { idOf } from "../api/snowflake.ts";
import { nameOf } from "./people.ts";

export interface Mentioned {
  readonly userId: string;
  readonly roleId: string | undefined;
}

/** Whether it names the bot or its role. Everyone is not the bot. */
export function isMentioned(message: Fields, { userId, roleId }: Mentioned): boolean {
  const users = listOf(message["mentions"]).map((user) => fieldsOf(user)["id"]);
  return users.includes(userId) || (roleId !== undefined && listOf(message["mention_roles"]).includes(roleId));
}

/**
 * The bot is not called by its name at the beginning or the end; people and emojis have their names. What is no mention to the
 * platform stays as it is.
 */
export function readable(content: string, message: Fields, { userId, roleId }: Mentioned): string {
  const names = new Map<string, string>();
  for (const user of listOf(message["mentions"]).map(fieldsOf)) {
    const [id, name] = [idOf(user["id"]), nameOf(user, fieldsOf(user["member"]))];
    if (id !== undefined && name !== undefined) names.set(id, name);
  }
  return withoutCalls(content, [`<@${userId}>`, `<@!${userId}>`, ...(roleId === undefined ? [] : [`<@&${roleId}>`])])
    .replaceAll(/<@!?(\d{1,20})>/g, (mention, id: string) => (names.has(id) ? `@${names.get(id)}` : mention))
    .replaceAll(/<a?(:\w{1,64}:)\d{1,20}>/g, "$1")
    .trim();
}

function withoutCalls(content: string, calls: readonly string[]): string {
  let text = content.trim();
  for (let call = calls.find((one) => text.startsWith(one)); call; call = calls.find((one) => text.startsWith(one))) {
    text = text
      .slice(call.length)
      .replace(/^\s*[,:]?/, "")
      .trimStart();
  }
  for (let call = calls.find((one) => text.endsWith(one)); call; call = calls.find((one) => text.endsWith(one))) {
    text = text.slice(0, -call.length).trimEnd();
    if (text.endsWith(",")) text = text.slice(0, -1);
  }
  return text;
}
