import type { PlatformRequest } from "@svc/testkit/platforms/base";
import { providerBDelivery } from "@svc/testkit/platforms/provider-b/delivery";
import { startProviderB } from "@svc/testkit/platforms/provider-b/server";
import { textOf } from "../plan/messages.ts";
import { fieldsOf, numberOf, phoneOf, type Provider } from "./provider.ts";

const TOKEN = "token-of-the-harness";
const SECRET = "signing-secret-of-the-harness";
const LINE = "+15550009999";

export async function openProviderB(): Promise<Provider> {
  const platform = await startProviderB({ token: TOKEN, lines: [LINE] });
  const chats = new Map<string, string>();
  const chatOf = (conversation: string): string => {
    const chat = chats.get(conversation) ?? platform.openChat([phoneOf(conversation)]);
    chats.set(conversation, chat);
    return chat;
  };
  return {
    channel: "provider_b",
    letter: "b",
    batch: 1,
    path: "/provider-b",
    platform,
    // In about 25 minutes.
    attempts: 10,
    patienceMs: 30_000,
    arrivesOnce: true,
    section: (origin) => `
[channels_config.provider_b]
api_token = "${TOKEN}"
from_phone = "${LINE}"
signing_secret = "${SECRET}"
allowed_senders = ["*"]
api_url = "${origin}${new URL(platform.apiUrl).pathname}"
`,
    isReady: () => true,
    delivery([message]) {
      const { label, conversation } = message!;
      // Subscriptions of both kinds are there.
      const version = numberOf(conversation) % 2 === 0 ? "2025-01-01" : "2026-02-03";
      const from = phoneOf(conversation);
      const text = textOf(message!);
      const atMs = Date.now();
      return providerBDelivery(
        { id: `id of ${label}`, chatId: chatOf(conversation), from, text, atMs, version },
        SECRET,
      );
    },
    sendingOf({ method, path, json }: PlatformRequest) {
      const chat = /\/chats\/([^/]+)\/messages$/.exec(path)?.[1];
      const { parts } = fieldsOf(fieldsOf(json)["message"]);
      if (method !== "POST" || chat === undefined || !Array.isArray(parts)) return undefined;
      return { to: chat, text: String(fieldsOf(parts[0])["value"]) };
    },
    received: () => platform.sent.map(({ chatId, text }) => ({ to: chatId, text })),
    addressOf: chatOf,
    [Symbol.asyncDispose]: () => platform.close(),
  };
}
