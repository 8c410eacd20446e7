/** Who we are on the platform, in one line, and what keeps the bot from hearing people. */
import { asCheckFailure } from "@svc/kit";
import type { BotApi } from "./api/bot-api.ts";
import type { Identity } from "./api/identity.ts";
import type { Config } from "./config.ts";
import { type Fields, fieldsOf, numberOf, textOf } from "./fields.ts";

export interface AccountParts {
  readonly api: BotApi;
  readonly identity: Identity;
  readonly config: Pick<Config, "mode" | "mention_only">;
}

export async function accountLine({ api, identity, config }: AccountParts, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  try {
    const me = await identity.ask(signal);
    const webhook = fieldsOf(await api.call((raw, s) => raw.getWebhookInfo(s), signal));
    return [`@${me.username}`, privacyNote(me, config), webhookNote(webhook, config)].filter((note) => note).join("; ");
  } catch (error) {
    signal.throwIfAborted();
    return asCheckFailure(error);
  }
}

/** https://core.telegram.org/bots/features#privacy-mode */
function privacyNote({ can_read_all_group_messages: readsAll }: Fields, config: AccountParts["config"]): string {
  if (config.mention_only || readsAll !== false) return "";
  return "its privacy mode hides from it what is said in groups, although mention_only is off: /setprivacy at @BotFather";
}

/** https://core.telegram.org/bots/api#webhookinfo */
function webhookNote(info: Fields, { mode }: AccountParts["config"]): string {
  const isSet = textOf(info["url"]) !== undefined;
  if (mode === "polling") return isSet ? "a webhook stands in the way of polling: svc channels setup telegram" : "";
  if (!isSet) return "no webhook is set yet: svc channels setup telegram";
  const waiting = numberOf(info["pending_update_count"]) ?? 0;
  if (waiting === 0 || info["last_error_date"] === undefined) return "its webhook is set";
  return `its webhook is set, and ${waiting} messages wait because the last delivery failed`;
}
