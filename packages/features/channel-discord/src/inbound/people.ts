/** Users, as the platform names them. https://docs.discord.com/developers/resources/user#user-object */
import { type Fields, fieldsOf, wordOf } from "../api/fields.ts";
import { idOf } from "../api/snowflake.ts";

/** The bot itself. */
export interface Self {
  readonly userId: string;
}

/** The name on the server, else the one that the person chose, else the account's. */
export const nameOf = (user: Fields, member?: Fields): string | undefined =>
  wordOf(member?.["nick"]) ?? wordOf(user["global_name"]) ?? wordOf(user["username"]);

/** Who did something: in a direct message `user`, on a server `member.user`. */
export function actorOf(event: Fields): { readonly user: Fields; readonly member: Fields } {
  const member = fieldsOf(event["member"]);
  const user = fieldsOf(event["user"]);
  return { user: idOf(user["id"]) === undefined ? fieldsOf(member["user"]) : user, member };
}
