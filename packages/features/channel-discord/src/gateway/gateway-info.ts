/**
 * Where the gateway is, and whether a session may begin.
 * https://docs.discord.com/developers/events/gateway#get-gateway-bot
 */
import { SvcError } from "@svc/contract";
import { asCheckFailure } from "@svc/kit";
import { fieldsOf, numberOf, textOf } from "../api/fields.ts";
import type { Rest } from "../api/rest.ts";

/** Throws CHANNEL_UNAUTHORIZED, REMOTE_*. */
export async function gatewayUrl(rest: Rest, signal: AbortSignal): Promise<string> {
  const json = fieldsOf(await rest.call({ path: "gateway/bot" }, signal).catch(asCheckFailure));
  const url = textOf(json["url"]);
  if (url === undefined || !/^wss?:\/\//i.test(url)) {
    throw new SvcError("REMOTE_UNREACHABLE", "The platform does not tell where its gateway is.", {
      hint: "Check the channel's api_url.",
    });
  }
  const { remaining, reset_after: resetAfter } = fieldsOf(json["session_start_limit"]);
  // Whoever begins more than a thousand in a day has the token taken away.
  if (numberOf(remaining) === 0) {
    throw new SvcError("REMOTE_UNREACHABLE", "The platform lets the bot begin no more sessions today.", {
      retryAfterMs: Math.max(1_000, numberOf(resetAfter) ?? 3_600_000),
    });
  }
  return url;
}
