/** The providers under test: how each is configured, who stands in for its platform, and what the platform posts. */
import type { SampleDelivery } from "@svc/contract";
import type { FakePlatform } from "@svc/testkit/platforms/base";
import { mailpushDelivery } from "@svc/testkit/platforms/mailpush/push";
import { startMailpush } from "@svc/testkit/platforms/mailpush/server";
import { providerADelivery } from "@svc/testkit/platforms/provider-a/delivery";
import { startProviderA } from "@svc/testkit/platforms/provider-a/server";
import { providerBDelivery } from "@svc/testkit/platforms/provider-b/delivery";
import { startProviderB } from "@svc/testkit/platforms/provider-b/server";
import { providerCDelivery } from "@svc/testkit/platforms/provider-c/delivery";
import { startProviderC } from "@svc/testkit/platforms/provider-c/server";
import { providerDDelivery } from "@svc/testkit/platforms/provider-d/delivery";
import { startProviderD } from "@svc/testkit/platforms/provider-d/server";

/** Whatever proves a delivery: the key of the signature, or the token. */
export const SECRET = "what-proves-a-delivery-of-the-bench-0123456789";
const TOKEN = "token-of-the-bench";
const LINE = "+15550009999";
const PHONE_NUMBER_ID = "109876543210";
const ADDRESS = "agent@example.com";
const TOPIC = "projects/bench/topics/mail";

export interface Provider {
  readonly path: string;
  /** All of it is one conversation, in which no more than so many may wait. */
  readonly burst?: number;
  startPlatform(): Promise<FakePlatform>;
  /** The section of it. */
  section(platformUrl: string): string;
  /** A message of this number, which makes its id. */
  delivery(number: number, conversation: number, atMs: number): SampleDelivery;
}

const TEXT = "hello from the bench";

/** As long as the platform's own. */
const wamidOf = (number: number): string =>
  `wamid.${Buffer.from(`a message of the bench, number ${number}`).toString("base64")}`;

/** Of a conversation, as the platform writes it. */
export const phoneOf = (conversation: number): string => `+1202555${String(conversation).padStart(4, "0")}`;

export const PROVIDERS: Readonly<Record<string, Provider>> = {
  "provider-a": {
    path: "/provider-a",
    startPlatform: () => startProviderA({ accessToken: TOKEN, phoneNumberId: PHONE_NUMBER_ID }),
    section: (url) => `[channels_config.provider_a]
access_token = "${TOKEN}"
phone_number_id = "${PHONE_NUMBER_ID}"
verify_token = "${TOKEN}"
app_secret = "${SECRET}"
allowed_numbers = ["*"]
api_url = "${url}/v25.0"`,
    delivery: (number, conversation, atMs) =>
      providerADelivery(
        { phoneNumberId: PHONE_NUMBER_ID, appSecret: SECRET },
        { id: wamidOf(number), from: phoneOf(conversation), atMs, text: TEXT },
      ),
  },
  "provider-b": {
    path: "/provider-b",
    startPlatform: () => startProviderB({ token: TOKEN, lines: [LINE] }),
    section: (url) => `[channels_config.provider_b]
api_token = "${TOKEN}"
from_phone = "${LINE}"
signing_secret = "${SECRET}"
allowed_senders = ["*"]
api_url = "${url}/api/partner/v3"`,
    delivery: (number, conversation, atMs) =>
      providerBDelivery(
        { id: `message-${number}`, chatId: `chat-${conversation}`, from: phoneOf(conversation), text: TEXT, atMs },
        SECRET,
      ),
  },
  "provider-c": {
    path: "/provider-c",
    startPlatform: () => startProviderC({ token: TOKEN }),
    section: (url) => `[channels_config.provider_c]
api_token = "${TOKEN}"
callback_token = "${SECRET}"
allowed_numbers = ["*"]
api_url = "${url}"`,
    delivery: (number, conversation, atMs) =>
      providerCDelivery({ id: `message-${number}`, from: phoneOf(conversation), text: TEXT, atMs }, SECRET),
  },
  "provider-d": {
    path: "/provider-d",
    startPlatform: () => startProviderD({ secret: SECRET }),
    section: (url) => `[channels_config.provider_d]
base_url = "${url}"
app_token = "${SECRET}"
webhook_secret = "${SECRET}"
allowed_users = ["*"]`,
    delivery: (number, conversation) =>
      providerDDelivery(
        { id: String(number), room: `room-${conversation}`, from: `user-${conversation}`, text: TEXT },
        SECRET,
      ),
  },
  // A push is taken when the notification is on disk. What these say was read before: no mail is fetched.
  mailpush: {
    path: "/webhook/mailpush",
    burst: 900,
    startPlatform: () => startMailpush({ address: ADDRESS, topics: [TOPIC], token: TOKEN, now: Date.now }),
    section: (url) => `[channels_config.mailpush]
enabled = true
topic = "${TOPIC}"
oauth_token = "${TOKEN}"
webhook_secret = "${SECRET}"
allowed_senders = ["*"]
api_url = "${url}"`,
    delivery: (number, _conversation, atMs) =>
      mailpushDelivery({ id: `push-${number}`, emailAddress: ADDRESS, historyId: String(number + 1), atMs }, SECRET),
  },
};
