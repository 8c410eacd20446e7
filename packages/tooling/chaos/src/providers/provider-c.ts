import type { PlatformRequest } from "@svc/testkit/platforms/base";
import { providerCDelivery } from "@svc/testkit/platforms/provider-c/delivery";
import { startProviderC } from "@svc/testkit/platforms/provider-c/server";
import { textOf } from "../plan/messages.ts";
import { fieldsOf, phoneOf, type Provider } from "./provider.ts";

const TOKEN = "token-of-the-harness";
const CALLBACK_TOKEN = "callback-token-of-the-harness";

export async function openProviderC(): Promise<Provider> {
  const platform = await startProviderC({ token: TOKEN });
  return {
    channel: "provider_c",
    letter: "c",
    batch: 1,
    path: "/provider-c",
    platform,
    // Every ten minutes for a day.
    attempts: 144,
    patienceMs: 30_000,
    arrivesOnce: false,
    section: (origin) => `
[channels_config.provider_c]
api_token = "${TOKEN}"
api_url = "${origin}"
callback_token = "${CALLBACK_TOKEN}"
allowed_numbers = ["*"]
`,
    isReady: () => true,
    delivery([message]) {
      const { label, conversation } = message!;
      const text = textOf(message!);
      return providerCDelivery({ id: label, from: phoneOf(conversation), text, atMs: Date.now() }, CALLBACK_TOKEN);
    },
    sendingOf({ method, path, json }: PlatformRequest) {
      const { target, text } = fieldsOf(json);
      return method === "POST" && path.endsWith("/messages/text")
        ? { to: String(target), text: String(text) }
        : undefined;
    },
    received: () => platform.sent.map(({ target, text }) => ({ to: target, text })),
    addressOf: (conversation) => phoneOf(conversation).slice(1),
    [Symbol.asyncDispose]: () => platform.close(),
  };
}
