/** The bot's account, its missing permissions, and `svc channels setup discord`. */
import { SvcError } from "@svc/contract";
import { asCheckFailure } from "@svc/kit";
import { type Fields, fieldsOf, idOf, listOf, numberOf, PORTAL, wordOf } from "./protocol.ts";
import type { Rest } from "./rest.ts";

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
async function ownApplication(rest: Rest, signal: AbortSignal): Promise<Fields> {
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

/** One flag for bots on many servers, one for those on few. Missing flags count as granted. */
function mayRead({ flags }: Fields): boolean {
  const bits = numberOf(flags);
  return bits === undefined || (bits & (MESSAGE_CONTENT | MESSAGE_CONTENT_LIMITED)) !== 0;
}

const MESSAGE_CONTENT = 1 << 18;
const MESSAGE_CONTENT_LIMITED = 1 << 19;

const INTENT_IS_OFF = `its Message Content Intent is off: turn it on at ${PORTAL}, under Bot, Privileged Gateway Intents`;

const unreadableAccount = (): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", "The platform does not tell who the bot is.", {
    hint: "Check the channel's api_url.",
  });

// `svc channels setup discord`: the bot connects by itself; the operator only has to invite it.

/**
 * The permissions that the bot needs on a server.
 * https://docs.discord.com/developers/topics/permissions#permissions-bitwise-permission-flags
 */
const PERMISSIONS =
  (1n << 6n) | // ADD_REACTIONS
  (1n << 10n) | // VIEW_CHANNEL
  (1n << 11n) | // SEND_MESSAGES
  (1n << 14n) | // EMBED_LINKS
  (1n << 15n) | // ATTACH_FILES
  (1n << 16n) | // READ_MESSAGE_HISTORY
  (1n << 35n) | // CREATE_PUBLIC_THREADS
  (1n << 38n); // SEND_MESSAGES_IN_THREADS

/** Throws CHANNEL_UNAUTHORIZED, REMOTE_*. */
export async function setUp(rest: Rest, signal: AbortSignal): Promise<string> {
  const application = await ownApplication(rest, signal);
  const id = idOf(application["id"]);
  if (id === undefined) throw new SvcError("REMOTE_UNREACHABLE", "The platform does not tell the bot's application.");
  const query = new URLSearchParams({
    client_id: id,
    scope: "bot applications.commands",
    permissions: `${PERMISSIONS}`,
  });
  return [
    "Nothing calls this channel from outside: the bot connects to the platform by itself.",
    "To invite it to a server, or to give it the permissions that it lacks there, open:",
    `https://discord.com/oauth2/authorize?${query}`,
    ...(mayRead(application) ? [] : [`To do by hand: ${INTENT_IS_OFF}.`]),
  ].join("\n");
}
