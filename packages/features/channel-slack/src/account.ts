/** The app's account, its permissions, and `svc channels setup slack`. */
import { type Channel, SvcError, trimEndOf } from "@svc/contract";
import { asCheckFailure } from "@svc/kit";
import type { Config } from "./config.ts";
import { EVENTS_PATH, fieldsOf, listOf, userId, wordOf } from "./protocol.ts";
import type { WebApi } from "./web-api.ts";

export interface AccountDeps {
  readonly bot: WebApi;
  /** Undefined without an app token. */
  readonly app: WebApi | undefined;
  readonly self: KnownSelf;
}

/** One line for a person; the app token is tried too. */
export async function accountLine(deps: AccountDeps, signal: AbortSignal): Promise<string> {
  const line = await signIn(deps, signal);
  if (deps.app === undefined) return line;
  const { url } = await deps.app.call("apps.connections.open", {}, signal).catch(asCheckFailure);
  if (wordOf(url) === undefined && typeof url !== "string") {
    throw new SvcError("REMOTE_UNREACHABLE", "Slack told no address to connect to.");
  }
  return `${line}; Socket Mode is open`;
}

/** Learns who we are, too. */
export async function signIn({ bot, self }: Pick<AccountDeps, "bot" | "self">, signal: AbortSignal): Promise<string> {
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

/** Who we are there, once the platform has told. */
export interface Self {
  readonly userId: string | undefined;
  readonly name: string | undefined;
}

interface KnownSelf extends Self {
  /** From `auth.test`. */
  learn(self: Self): void;
}

export function unknownSelf(): KnownSelf {
  let known: Self = { userId: undefined, name: undefined };
  return {
    get userId() {
      return known.userId;
    },
    get name() {
      return known.name;
    },
    learn(self) {
      known = self;
    },
  };
}

/**
 * `svc channels setup slack`: the app as a manifest, to be pasted where the platform makes apps. No token may make one.
 * https://docs.slack.dev/reference/app-manifest
 */
const NEW_APP = "https://api.slack.com/apps?new_app=1";

export const setupOf = ({ mode }: Pick<Config, "mode">): NonNullable<Channel["setup"]> =>
  async function setup({ url }, signal) {
    signal.throwIfAborted();
    const urls = mode === "events" ? requestUrls(url) : undefined;
    const left =
      mode === "socket"
        ? "Then make an app-level token with the scope connections:write (Basic Information), and install the app (Install App)."
        : "Then install the app (Install App), and copy its signing secret (Basic Information).";
    return [
      `Make an app at ${NEW_APP}, "From a manifest", with this one, as JSON; an app that is there takes it under "App Manifest".`,
      left,
      "",
      JSON.stringify(manifestOf(urls), undefined, 2),
    ].join("\n");
  };

interface RequestUrls {
  readonly events: string;
  readonly actions: string;
  readonly commands: string;
}

/** Throws CHANNEL_CANNOT. */
function requestUrls(url: string): RequestUrls {
  if (!/^https:\/\//i.test(url)) {
    throw new SvcError("CHANNEL_CANNOT", "Slack posts only to https URLs, and none is configured.", {
      hint: 'Set gateway.public_url, or use mode = "socket", which needs none.',
    });
  }
  const base = url.endsWith(EVENTS_PATH) ? url.slice(0, -EVENTS_PATH.length) : trimEndOf(url, "/");
  return { events: `${base}${EVENTS_PATH}`, actions: `${base}/slack/actions`, commands: `${base}/slack/commands` };
}

const manifestOf = (urls: RequestUrls | undefined): object => ({
  display_information: { name: "svc", description: "An agent that answers in messages, channels and threads." },
  features: {
    app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
    bot_user: { display_name: "svc", always_online: true },
    slash_commands: [
      {
        command: "/svc",
        ...(urls && { url: urls.commands }),
        description: "A new conversation, another model, what goes on",
        usage_hint: "new | model <name> | status | stop | help",
        should_escape: true,
      },
    ],
  },
  oauth_config: { scopes: { bot: BOT_SCOPES } },
  settings: {
    event_subscriptions: { ...(urls && { request_url: urls.events }), bot_events: BOT_EVENTS },
    interactivity: { is_enabled: true, ...(urls && { request_url: urls.actions }) },
    org_deploy_enabled: false,
    socket_mode_enabled: urls === undefined,
    token_rotation_enabled: false,
  },
});

// What the app asks of a workspace. https://docs.slack.dev/reference/scopes

/** In the order of the manifest. */
export const BOT_SCOPES = [
  "app_mentions:read",
  "channels:history",
  "channels:read",
  "chat:write",
  "commands",
  "files:read",
  "files:write",
  "groups:history",
  "groups:read",
  "im:history",
  "im:read",
  "im:write",
  "mpim:history",
  "mpim:read",
  "reactions:read",
  "reactions:write",
  "users:read",
] as const;

/** https://docs.slack.dev/reference/events */
export const BOT_EVENTS = [
  "app_mention",
  "message.channels",
  "message.groups",
  "message.im",
  "message.mpim",
  "reaction_added",
  "reaction_removed",
] as const;
