/**
 * `svc channels setup slack`: the app as a manifest, to be pasted where the platform makes apps. No token may make one.
 * https://docs.slack.dev/reference/app-manifest
 */
import type { Channel } from "@svc/contract";
import { SvcError, trimEndOf } from "@svc/contract";
import type { Config } from "./config.ts";
import { EVENTS_PATH } from "./ingress/ingress.ts";
import { BOT_EVENTS, BOT_SCOPES } from "./scopes.ts";

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
    throw new SvcError("CHANNEL_CANNOT", "Slack posts to https URLs only, and there is none.", {
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
