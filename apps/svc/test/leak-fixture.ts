/** Every secret of this build, planted; and where one that got out is looked for. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One value a secret key of this build, by the walk's spelling. */
export const PLANTED: Readonly<Record<string, string>> = {
  "model.api_key": "planted-model-key-1f0c",
  "agents.*.model.api_key": "planted-agent-key-2e1d",
  "channels_config.webhook.secret": "planted-webhook-secret-3d2e",
  "channels_config.webhook.signing_secret": "planted-signing-secret-4c3f",
  "channels_config.webhook.url_secret": "planted-url-secret-5d40",
  "channels_config.webhook.authorization": "planted-authorization-6e51",
  "observability.otel_headers": "x-collector-key=planted-collector-key-7c62",
  "transcription.api_key": "planted-transcription-key-6a51",
  "tts.api_key": "planted-speech-key-5e29",
  "browser.computer_use_api_key": "planted-screen-key-04fb",
  "channels_config.provider_a.access_token": "planted-a-access-token-7b62",
  "channels_config.provider_a.app_secret": "planted-a-app-secret-8c73",
  "channels_config.provider_a.verify_token": "planted-a-verify-token-9d84",
  "channels_config.provider_b.api_token": "planted-b-api-token-ae95",
  "channels_config.provider_b.signing_secret": "planted-b-signing-secret-bfa6",
  "channels_config.provider_c.api_token": "planted-c-api-token-c0b7",
  "channels_config.provider_c.callback_token": "planted-c-callback-token-d1c8",
  "channels_config.provider_c.verify_token": "planted-c-verify-token-e2d9",
  "channels_config.provider_d.app_token": "planted-d-app-token-f3ea-0123456789012345",
  "channels_config.provider_d.webhook_secret": "planted-d-webhook-secret-04fb-0123456789",
  "channels_config.mailpush.oauth_token": "planted-mailpush-oauth-token-150c",
  "channels_config.mailpush.refresh_token": "planted-mailpush-refresh-token-261d",
  "channels_config.mailpush.client_secret": "planted-mailpush-client-secret-372e",
  "channels_config.mailpush.webhook_secret": "planted-mailpush-webhook-secret-483f",
  "channels_config.voice_call.auth_token": "planted-voice-auth-token-5940",
  "channels_config.telegram.bot_token": "123456789:planted-telegram-bot-token-6a51",
  "channels_config.telegram.webhook_secret": "planted-telegram-webhook-secret-7b62",
  "channels_config.discord.bot_token": "planted-discord-bot-token-8c73",
  "channels_config.slack.bot_token": "xoxb-planted-slack-bot-token-9d84",
  "channels_config.slack.app_token": "xapp-planted-slack-app-token-ae95",
  "channels_config.slack.signing_secret": "planted-slack-signing-secret-bfa6",
  "channels_config.email.password": "planted-email-password-c0b7",
  "channels_config.email.access_token": "planted-email-access-token-d1c8",
  "channels_config.email.refresh_token": "planted-email-refresh-token-e2d9",
  "channels_config.email.client_secret": "planted-email-client-secret-f3ea",
};

export const planted = (key: string): string => PLANTED[key] ?? PLANTED[`channels_config.${key}`]!;

/**
 * The section of each of these channels, with all its secrets. The values: addresses of their platforms' APIs. `targets`: whom
 * the agent may write to there, e.g. `"*"`.
 */
export const channelSections = (at: Readonly<Record<string, string>>, allowed = PERSON, targets = ""): string =>
  Object.entries(at)
    .map(([channel, url]) => {
      const secrets = Object.entries(PLANTED).filter(([key]) => key.startsWith(`channels_config.${channel}.`));
      const lines = secrets.map(([key, value]) => `${key.slice(key.lastIndexOf(".") + 1)} = "${value}"`);
      return `[channels_config.${channel}]\n${OTHER_KEYS[channel]!(url, allowed)}\n${lines.join("\n")}\nallowed_targets = [${targets}]`;
    })
    .join("\n");

export const PERSON = "+15551234567";
export const PHONE_NUMBER_ID = "109876543210";
export const LINE = "+15550009999";

const OTHER_KEYS: Readonly<Record<string, (url: string, allowed: string) => string>> = {
  provider_a: (url, allowed) => `
phone_number_id = "${PHONE_NUMBER_ID}"
allowed_numbers = ["${allowed}"]
api_url = "${url}"`,
  provider_b: (url, allowed) => `
from_phone = "${LINE}"
allowed_senders = ["${allowed}"]
api_url = "${url}"`,
  provider_c: (url, allowed) => `
allowed_numbers = ["${allowed}"]
api_url = "${url}"`,
  provider_d: (url) => `
base_url = "${url}"
allowed_users = ["ann"]`,
  mailpush: (url) => `
enabled = true
topic = "projects/my-project/topics/mail"
client_id = "client-1"
allowed_senders = ["ada@example.org"]
api_url = "${url}"
token_url = "${url}/token"
pubsub_url = "${url}"`,
  telegram: (url) => `
allowed_users = ["5551001"]
api_url = "${url}"`,
  discord: (url) => `
allowed_users = ["200000000000000001"]
api_url = "${url}"`,
  slack: (url) => `
allowed_users = ["U0PERSON1"]
api_url = "${url}"`,
  // Nobody listens there: what is no mail server would keep everybody waiting for its greeting.
  email: (url) => `
address = "agent@example.com"
imap_host = "127.0.0.1"
imap_port = 9
imap_security = "none"
smtp_host = "127.0.0.1"
smtp_port = 9
smtp_security = "none"
client_id = "client-1"
token_url = "${url}/token"
allowed_senders = ["ada@example.org"]`,
  voice_call: (url, allowed) => `
account_sid = "AC0123456789abcdef0123456789abcdef"
from_number = "${LINE}"
webhook_url = "https://svc.example.org"
allowed_numbers = ["${allowed}"]
api_url = "${url}"`,
};

export interface Told {
  readonly where: string;
  readonly text: string;
}

export function filesBelow(home: string, folder: string): Told[] {
  const entries = readdirSync(join(home, folder), { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => ({
      where: `${folder}/${entry.name}`,
      text: readFileSync(join(entry.parentPath, entry.name), "latin1"),
    }));
}

/** Which of the secrets is told where. */
export const leaksIn = (told: readonly Told[], secrets: readonly string[]): string[] =>
  told.flatMap(({ where, text }) =>
    secrets
      .filter((secret) => forms(secret).some((form) => text.includes(form)))
      .map((secret) => `${secret} in ${where}`),
  );

/** A secret is no less told when it stands in a URL or in base64. */
const forms = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64").replace(/=+$/, ""),
  Buffer.from(secret).toString("hex"),
];
