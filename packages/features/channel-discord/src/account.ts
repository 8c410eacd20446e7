/** Who the bot is to the platform, and what is missing there. */
import { SvcError } from "@svc/contract";
import { asCheckFailure } from "@svc/kit";
import { type Fields, fieldsOf, listOf, numberOf, wordOf } from "./api/fields.ts";
import type { Rest } from "./api/rest.ts";
import { idOf } from "./api/snowflake.ts";
import { PORTAL } from "./names.ts";

/**
 * One line for a person. Throws CHANNEL_UNAUTHORIZED, REMOTE_*.
 * https://docs.discord.com/developers/resources/user#get-current-user
 */
export async function accountLine(rest: Rest, signal: AbortSignal): Promise<string> {
  const user = fieldsOf(await rest.call({ path: "users/@me" }, signal).catch(asCheckFailure));
  if (idOf(user["id"]) === undefined) throw unreadableAccount();
  const application = await ownApplication(rest, signal);
  const servers = numberOf(application["approximate_guild_count"]) ?? (await serverCount(rest, signal));
  const blind = mayRead(application) ? "" : `; ${INTENT_IS_OFF}`;
  return `${tagOf(user)}, in ${servers} ${servers === 1 ? "guild" : "guilds"}${blind}`;
}

/** https://docs.discord.com/developers/resources/application#get-current-application */
export async function ownApplication(rest: Rest, signal: AbortSignal): Promise<Fields> {
  return fieldsOf(await rest.call({ path: "applications/@me" }, signal).catch(asCheckFailure));
}

/** Bots still have the four digits behind the name. */
function tagOf({ username, discriminator }: Fields): string {
  const name = oneLine(wordOf(username)) ?? "a bot without a name";
  const digits = wordOf(discriminator);
  return digits !== undefined && /^\d{4}$/.test(digits) && digits !== "0000" ? `${name}#${digits}` : name;
}

const oneLine = (text: string | undefined): string | undefined =>
  text?.replaceAll(/\p{Cc}+/gu, " ").trim() || undefined;

async function serverCount(rest: Rest, signal: AbortSignal): Promise<number> {
  return listOf(await rest.call({ path: "users/@me/guilds", query: { limit: "200" } }, signal).catch(asCheckFailure))
    .length;
}

/** One flag for bots on many servers, one for those on few. What is not told is not held against it. */
export function mayRead({ flags }: Fields): boolean {
  const bits = numberOf(flags);
  return bits === undefined || (bits & (MESSAGE_CONTENT | MESSAGE_CONTENT_LIMITED)) !== 0;
}

const MESSAGE_CONTENT = 1 << 18;
const MESSAGE_CONTENT_LIMITED = 1 << 19;

export const INTENT_IS_OFF = `its Message Content Intent is off: turn it on at ${PORTAL}, under Bot, Privileged Gateway Intents`;

const unreadableAccount = (): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", "The platform does not tell who the bot is.", {
    hint: "Check the channel's api_url.",
  });
