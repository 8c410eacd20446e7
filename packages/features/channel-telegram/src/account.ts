/** The bot's account: its id and name, problems that keep it from hearing people, and `svc channels setup`. */
import { type Channel, type FeatureContext, type Json, SvcError } from "@svc/contract";
import { asCheckFailure, parseJson } from "@svc/kit";
import type { BotApi } from "./bot-api.ts";
import type { Config } from "./config.ts";
import { COMMANDS, type Fields, fieldsOf, numberOf, textOf, UPDATE_KINDS, wordOf } from "./protocol.ts";

interface Identity {
  /** Undefined: the token does not begin with an id. */
  readonly id: number | undefined;
  /** Without the @. Undefined until it was asked for once. */
  readonly username: string | undefined;
  /** The state of the last process. An unreadable state is no error: the name is fetched again anyway. */
  recall(): Promise<void>;
  /** What the platform says of the bot. Throws as `BotApi.call`, and REMOTE_UNREACHABLE for an answer that can't be read. */
  ask(signal: AbortSignal): Promise<Fields & { readonly username: string }>;
}

const NAME = "bot";

export function createIdentity(
  api: BotApi,
  { config, state }: Pick<FeatureContext<Config>, "config" | "state">,
): Identity {
  const id = /^([1-9]\d{0,15}):/.exec(config.bot_token)?.[1];
  let username: string | undefined;
  return {
    id: id === undefined ? undefined : Number(id),
    get username() {
      return username;
    },
    async recall() {
      const stored = await state.get(NAME).catch(() => undefined);
      const known = fieldsOf(stored === undefined ? undefined : parseJson(Buffer.from(stored)));
      // Another token is another bot.
      if (known["id"] === id) username ??= wordOf(known["username"]);
    },
    async ask(signal) {
      const me = fieldsOf(await api.call((raw, s) => raw.getMe(s), signal));
      const name = wordOf(me["username"]);
      if (name === undefined || !/^\w+$/.test(name)) {
        throw new SvcError("REMOTE_UNREACHABLE", "The platform's answer can't be read.", {
          hint: "Check the channel's api_url.",
        });
      }
      if (name !== username)
        await state.set(NAME, JSON.stringify({ id, username: name } as Json)).catch(() => undefined);
      username = name;
      return { ...me, username: name };
    },
  };
}

/** Who we are on the platform, in one line, and what keeps the bot from hearing people. */
export interface AccountDeps {
  readonly api: BotApi;
  readonly identity: Identity;
  readonly config: Pick<Config, "mode" | "mention_only">;
}

export async function accountLine({ api, identity, config }: AccountDeps, signal: AbortSignal): Promise<string> {
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
function privacyNote({ can_read_all_group_messages: readsAll }: Fields, config: AccountDeps["config"]): string {
  if (config.mention_only || readsAll !== false) return "";
  return "its privacy mode hides from it what is said in groups, although mention_only is off: /setprivacy at @BotFather";
}

/** https://core.telegram.org/bots/api#webhookinfo */
function webhookNote(info: Fields, { mode }: AccountDeps["config"]): string {
  const isSet = textOf(info["url"]) !== undefined;
  if (mode === "polling") return isSet ? "a webhook stands in the way of polling: svc channels setup telegram" : "";
  if (!isSet) return "no webhook is set yet: svc channels setup telegram";
  const waiting = numberOf(info["pending_update_count"]) ?? 0;
  if (waiting === 0 || info["last_error_date"] === undefined) return "its webhook is set";
  return `its webhook is set, and ${waiting} messages wait because the last delivery failed`;
}

/** `svc channels setup`: how updates come, and the menu of commands. https://core.telegram.org/bots/api#setwebhook */
type Mode = Pick<Config, "mode" | "webhook_secret">;

export function setupOf(api: BotApi, config: Mode): NonNullable<Channel["setup"]> {
  return async ({ url }, signal) => {
    signal.throwIfAborted();
    if (config.mode === "webhook") demandReachable(url);
    try {
      const mode = config.mode === "webhook" ? await setWebhook(api, config, url, signal) : await poll(api, signal);
      await api.call((raw, s) => raw.setMyCommands({ commands: COMMANDS }, s), signal);
      const names = COMMANDS.map(({ command }) => `/${command}`).join(" ");
      return `${mode} The menu of commands is set: ${names}.`;
    } catch (error) {
      signal.throwIfAborted();
      return asCheckFailure(error);
    }
  };
}

/** Pending messages are not dropped: the platform delivers them now. */
async function setWebhook(api: BotApi, { webhook_secret: secret }: Mode, url: string, signal: AbortSignal) {
  await api.call(
    (raw, s) =>
      raw.setWebhook(
        {
          url,
          allowed_updates: UPDATE_KINDS,
          drop_pending_updates: false,
          ...(secret !== undefined && { secret_token: secret }),
        },
        s,
      ),
    signal,
  );
  return "The platform posts messages to svc from now on.";
}

async function poll(api: BotApi, signal: AbortSignal): Promise<string> {
  const info = fieldsOf(await api.call((raw, s) => raw.getWebhookInfo(s), signal));
  if (textOf(info["url"]) === undefined) return "svc asks the platform for messages; no webhook stands in the way.";
  await api.call((raw, s) => raw.deleteWebhook({ drop_pending_updates: false }, s), signal);
  return "The webhook that stood in the way is gone; svc asks the platform for messages.";
}

const PORTS: ReadonlySet<string> = new Set(["", "80", "88", "8443"]);

/** Throws CHANNEL_CANNOT for an address that the platform would not take. */
function demandReachable(url: string): void {
  if (!URL.canParse(url)) {
    throw new SvcError("CHANNEL_CANNOT", "The platform needs an address to post to.", {
      hint: 'Set gateway.public_url to the https address of this service, or mode = "polling".',
    });
  }
  const { protocol, port } = new URL(url);
  if (protocol === "https:" && PORTS.has(port)) return;
  throw new SvcError("CHANNEL_CANNOT", "The platform posts only to https, on port 443, 80, 88 or 8443.", {
    hint: 'Change gateway.public_url, or set mode = "polling".',
  });
}
