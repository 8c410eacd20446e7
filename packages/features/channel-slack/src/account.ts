/** Who we are on the platform. https://docs.slack.dev/reference/methods/auth.test */
import { SvcError } from "@svc/contract";
import { asCheckFailure } from "@svc/kit";
import type { WebApi } from "./api/web-api.ts";
import { fieldsOf, listOf, wordOf } from "./fields.ts";
import { userId } from "./ids.ts";
import { BOT_SCOPES } from "./scopes.ts";
import type { KnownSelf } from "./self.ts";

export interface AccountParts {
  readonly bot: WebApi;
  /** Undefined without an app token. */
  readonly app: WebApi | undefined;
  readonly self: KnownSelf;
}

/** One line for a person; the app token is tried too. */
export async function accountLine(parts: AccountParts, signal: AbortSignal): Promise<string> {
  const line = await signIn(parts, signal);
  if (parts.app === undefined) return line;
  const { url } = await parts.app.call("apps.connections.open", {}, signal).catch(asCheckFailure);
  if (wordOf(url) === undefined && typeof url !== "string") {
    throw new SvcError("REMOTE_UNREACHABLE", "Slack told no address to connect to.");
  }
  return `${line}; Socket Mode is open`;
}

/** Learns who we are, too. */
export async function signIn({ bot, self }: Pick<AccountParts, "bot" | "self">, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const answer = await bot.call("auth.test", {}, signal).catch(asCheckFailure);
  const name = wordOf(answer["user"]);
  const team = wordOf(answer["team"]);
  const user = userId(answer["user_id"]);
  if (user === undefined) throw new SvcError("REMOTE_UNREACHABLE", "Slack did not say who this bot is.");
  self.learn({ userId: user, name });
  const granted = new Set(listOf(fieldsOf(answer["response_metadata"])["scopes"]));
  const missing = granted.size === 0 ? [] : BOT_SCOPES.filter((scope) => !granted.has(scope));
  const lacks =
    missing.length === 0 ? "" : `; it lacks ${missing.join(", ")}: add them to the app, and install it again`;
  return printable(`${name ?? "a bot without a name"} in ${team ?? "a workspace without a name"}${lacks}`);
}

/** It goes to a terminal. */
const printable = (text: string): string => text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").slice(0, 600);
