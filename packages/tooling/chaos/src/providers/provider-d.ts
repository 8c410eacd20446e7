import type { PlatformRequest } from "@svc/testkit/platforms/base";
import { providerDDelivery } from "@svc/testkit/platforms/provider-d/delivery";
import { startProviderD } from "@svc/testkit/platforms/provider-d/server";
import { textOf } from "../plan/messages.ts";
import { fieldsOf, numberOf, type Provider } from "./provider.ts";

const SECRET = "shared-secret-of-the-harness-0123456789abcdef";
/** Messages are numbered over all rooms; these are enough for one. */
const ROOM_SIZE = 100_000;

export async function openProviderD(): Promise<Provider> {
  const platform = await startProviderD({ secret: SECRET });
  const roomOf = (conversation: string): string => `room${numberOf(conversation)}`;
  return {
    channel: "provider_d",
    letter: "d",
    batch: 1,
    path: "/provider-d",
    platform,
    // The server does not try again: what meets a daemon that is down is gone.
    attempts: 1,
    patienceMs: 5_000,
    // It keeps the reference that it is given, and looks for none that is there already.
    arrivesOnce: false,
    section: (origin) => `
[channels_config.provider_d]
base_url = "${platform.url}"
api_url = "${origin}"
app_token = "${SECRET}"
webhook_secret = "${SECRET}"
allowed_users = ["*"]
`,
    isReady: () => true,
    delivery([message]) {
      const { label, conversation } = message!;
      const id = String((numberOf(conversation) + 1) * ROOM_SIZE + numberOf(label));
      const room = roomOf(conversation);
      return providerDDelivery({ id, room, from: `user${numberOf(conversation)}`, text: textOf(message!) }, SECRET);
    },
    sendingOf({ method, path, json }: PlatformRequest) {
      const room = /\/bot\/([^/]+)\/message$/.exec(path)?.[1];
      if (method !== "POST" || room === undefined) return undefined;
      return { to: room, text: String(fieldsOf(json)["message"]) };
    },
    received: () => platform.sent.map(({ room, text }) => ({ to: room, text })),
    addressOf: roomOf,
    [Symbol.asyncDispose]: () => platform.close(),
  };
}
