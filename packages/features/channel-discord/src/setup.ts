/** `svc channels setup discord`: the bot connects by itself; what is left is to let it in. */
import { SvcError } from "@svc/contract";
import { INTENT_IS_OFF, mayRead, ownApplication } from "./account.ts";
import type { Rest } from "./api/rest.ts";
import { idOf } from "./api/snowflake.ts";

/**
 * What it does on a server.
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
