/** Names, ids and fields of the platform's JSON, read without trust. */
import { type Fields, fieldsOf, wordOf as anyWordOf } from "@svc/kit";

/** Last part of the section's name, and the channel name of conversations. */
export const CHANNEL = "discord";

/** Where the bot is made and its switches are. */
export const PORTAL = "https://discord.com/developers/applications";

// Ids of the platform: 64 bits as decimal text, in the order of time.
// https://docs.discord.com/developers/reference#snowflakes

/** Undefined for an invalid id, which could inject a path segment or name a conversation without answers. */
export const idOf = (value: unknown): string | undefined =>
  typeof value === "string" && /^[1-9]\d{0,19}$/.test(value) ? value : undefined;

/** Milliseconds since the epoch. */
export const timeOfId = (id: string): number => Number(BigInt(id) >> TIME_SHIFT) + EPOCH_MS;

/** The least id of that time. */
export const idAt = (epochMs: number): string =>
  String(BigInt(Math.max(1, Math.floor(epochMs) - EPOCH_MS)) << TIME_SHIFT);

export const isLater = (id: string, than: string): boolean =>
  id.length === than.length ? id > than : id.length > than.length;

export const laterOf = (one: string, other: string): string => (isLater(other, one) ? other : one);

const EPOCH_MS = 1_420_070_400_000;
const TIME_SHIFT = 22n;

export { type Fields, fieldsOf, listOf, textOf } from "@svc/kit";

export const wordOf = (value: unknown): string | undefined => anyWordOf(value)?.trim();

export const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

// Users, as the platform names them. https://docs.discord.com/developers/resources/user#user-object

/** The bot itself. */
export interface Self {
  readonly userId: string;
}

/** The name on the server, else the display name, else the account's name. */
export const nameOf = (user: Fields, member?: Fields): string | undefined =>
  wordOf(member?.["nick"]) ?? wordOf(user["global_name"]) ?? wordOf(user["username"]);

/** Who did something: in a direct message `user`, on a server `member.user`. */
export function actorOf(event: Fields): { readonly user: Fields; readonly member: Fields } {
  const member = fieldsOf(event["member"]);
  const user = fieldsOf(event["user"]);
  return { user: idOf(user["id"]) === undefined ? fieldsOf(member["user"]) : user, member };
}
