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

/** Without the mentions of the bot; people and emojis by their names. What is no mention to the platform stays as it is. */
export function readable(content: string, message: Fields, { userId, roleId }: Mentioned): string {
  const names = new Map<string, string>();
  for (const user of listOf(message["mentions"]).map(fieldsOf)) {
    const [id, name] = [idOf(user["id"]), nameOf(user, fieldsOf(user["member"]))];
    if (id !== undefined && name !== undefined) names.set(id, name);
  }
  return content
    .replaceAll(/[^\S\n]?<@([!&]?)(\d{1,20})>/g, (mention, mark: string, id: string) => {
      if (id === (mark === "&" ? roleId : userId)) return "";
      const name = mark === "&" ? undefined : names.get(id);
      return name === undefined ? mention : mention.replace(/<.*>/, () => `@${name}`);
    })
    .replaceAll(/<a?(:\w{1,64}:)\d{1,20}>/g, "$1")
    .trim();
}
