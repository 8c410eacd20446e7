import { createHmac } from "node:crypto";
import type { SampleDelivery } from "@svc/contract";
import type {
  ChannelSubject,
  DeliverySubject,
  PlatformMessage,
  Section,
} from "../../src/conformance/channel-conformance.ts";
import { type ChatPlatform, startChatPlatform, TOKEN } from "./platform.ts";

const SIGNING_SECRET = "signing-secret-51c2";

const signed: DeliverySubject["signed"] = (body, { signing_secret: secret }: Section, atMs): SampleDelivery => {
  const timestamp = String(Math.floor(atMs / 1000));
  const hmac = createHmac("sha256", String(secret)).update(`${timestamp}.`).update(body).digest("hex");
  const signature = secret === undefined ? {} : { "X-Signature": hmac };
  return { method: "POST", query: "", headers: { "X-Time": timestamp, ...signature }, body };
};

const message = (told: PlatformMessage, section: Section): SampleDelivery =>
  signed(Buffer.from(JSON.stringify({ ...told, room: "room-1" })), section, told.atMs);

/** `root`: of a package whose manifest names the path. */
export const fakeSubject = (root: string): ChannelSubject<ChatPlatform> & { readonly deliveries: DeliverySubject } => ({
  root,
  platform: startChatPlatform,
  config: ({ url }) => ({ api_url: url, token: TOKEN, signing_secret: SIGNING_SECRET, allowed: ["alice"] }),
  conversation: () => ({ id: "room-1" }),
  deliveries: {
    person: "alice",
    stranger: "mallory",
    message,
    signed,
    own: (told, section) => message({ ...told, from: "bot" }, section),
    proves: "body",
    freshness: { by: "timestamp", windowMs: 300_000 },
  },
  media: {
    file: (platform, bytes) => ({ kind: "image", ref: platform.host(bytes), placeholder: "[IMAGE]" }),
    leadingTo: (platform, url) => ({ kind: "image", ref: platform.link(url), placeholder: "[IMAGE]" }),
  },
  prompts: {
    pressed({ sent }, { approved, ...press }, section) {
      const at = approved ? 0 : 1;
      const { buttons, ids } = sent.at(-1)!;
      const json = { ...press, text: buttons[at], button: ids[at], room: "room-1" };
      return signed(Buffer.from(JSON.stringify(json)), section, press.atMs);
    },
  },
  idempotent: true,
});

/** Of the channel that polls. `root`: of a package whose manifest names no path. */
export function pollingSubject(root: string): ChannelSubject<ChatPlatform> {
  const { deliveries: _, ...subject } = fakeSubject(root);
  return {
    ...subject,
    prompts: {},
    arrivals: {
      person: "alice",
      stranger: "mallory",
      write: (platform, update) => platform.write(update),
      writeOwn: (platform, update) => platform.write({ ...update, from: "bot" }),
      press(platform, { approved, ...press }) {
        const at = approved ? 0 : 1;
        const { buttons, ids } = platform.sent.at(-1)!;
        platform.write({ ...press, text: buttons[at]!, button: ids[at]! });
      },
      disconnect: (platform) => platform.disconnect(),
    },
  };
}
