import type { SampleDelivery } from "@svc/contract";
import type { PlatformRequest } from "@svc/testkit/platforms/base";
import { providerABatch, providerADelivery } from "@svc/testkit/platforms/provider-a/delivery";
import { startProviderA } from "@svc/testkit/platforms/provider-a/server";
import { textOf } from "../plan/messages.ts";
import { fieldsOf, phoneOf, type Provider } from "./provider.ts";

const ACCESS_TOKEN = "access-token-of-the-harness";
const NUMBER = { phoneNumberId: "106540352242922", appSecret: "app-secret-of-the-harness" };

export async function openProviderA(): Promise<Provider> {
  const platform = await startProviderA({ accessToken: ACCESS_TOKEN, phoneNumberId: NUMBER.phoneNumberId });
  return {
    channel: "provider_a",
    letter: "a",
    batch: 3,
    path: "/provider-a",
    platform,
    // For seven days, ever more rarely.
    attempts: Infinity,
    patienceMs: 30_000,
    arrivesOnce: false,
    section: (origin) => `
[channels_config.provider_a]
access_token = "${ACCESS_TOKEN}"
phone_number_id = "${NUMBER.phoneNumberId}"
verify_token = "verify-token-of-the-harness"
app_secret = "${NUMBER.appSecret}"
allowed_numbers = ["*"]
api_url = "${origin}${new URL(platform.apiUrl).pathname}"
`,
    isReady: () => true,
    delivery: (messages) =>
      providerABatch(
        NUMBER,
        messages.map((message) => ({
          id: `wamid.${message.label}`,
          from: phoneOf(message.conversation),
          atMs: Date.now(),
          text: textOf(message),
        })),
      ),
    sendingOf({ method, path, json }: PlatformRequest) {
      const { status, to, text } = fieldsOf(json);
      if (method !== "POST" || !path.endsWith("/messages") || status !== undefined) return undefined;
      return { to: String(to), text: String(fieldsOf(text)["body"]) };
    },
    received: () => platform.sent.map(({ to, text }) => ({ to, text })),
    addressOf: phoneOf,
    [Symbol.asyncDispose]: () => platform.close(),
  };
}

/** What a person writes beside the messages of a plan. */
export const writtenToProviderA = (from: string, id: string, text: string): SampleDelivery =>
  providerADelivery(NUMBER, { id, from, atMs: Date.now(), text });
