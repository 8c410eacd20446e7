/** Two workspaces that answer as the platform does, and its own client for either. */
import { WebClient } from "@slack/web-api";
import { type Slack, startSlack } from "@svc/testkit/platforms/slack/server";
import { createEmulator } from "emulate";
import { quietLog } from "../../src/web-api.ts";
import { TOKENS } from "../fixture.ts";

export const GENERAL = "C000000001";
export const ADMIN = "U000000001";
const BOT = { user: "U0B0TUSER", bot: "B0B0T1234", app: "A0APP1234" };

export interface OpenWorkspace extends AsyncDisposable {
  readonly apiUrl: string;
}

/** https://github.com/vercel-labs/emulate, in this process, which minds scopes. */
export async function startEmulator(): Promise<OpenWorkspace> {
  const scopes =
    "chat:write channels:read channels:history im:history im:write reactions:write reactions:read users:read files:read files:write";
  const { url, close } = await createEmulator({
    service: "slack",
    port: 0,
    seed: {
      slack: {
        team: { name: "Acme", domain: "acme" },
        oauth_apps: [
          {
            app_id: BOT.app,
            client_id: "1.2",
            client_secret: "client-secret",
            name: "svc",
            redirect_uris: [],
            scopes,
            bot_id: BOT.bot,
            bot_user_id: BOT.user,
            bot_name: "svc",
          },
        ],
        tokens: [
          {
            token: TOKENS.botToken,
            type: "bot",
            user_id: BOT.user,
            bot_id: BOT.bot,
            bot_user_id: BOT.user,
            scopes: scopes.split(" "),
          },
        ],
        strict_scopes: true,
      },
    },
  });
  return { apiUrl: `${url}/api`, [Symbol.asyncDispose]: close };
}

export async function startOurs(): Promise<Slack> {
  const slack = await startSlack({ ...TOKENS, people: [{ id: ADMIN, name: "admin", displayName: "admin" }] });
  slack.workspace.add({ id: GENERAL, kind: "channel", name: "general" });
  return slack;
}

/** The platform's own, which tries nothing again. */
export const clientOf = ({ apiUrl }: OpenWorkspace, token: string = TOKENS.botToken): WebClient =>
  new WebClient(token, {
    slackApiUrl: apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: quietLog(),
  });
