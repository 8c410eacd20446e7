// The conformance suites of features and channels, against a platform that is strict, hostile, slow or gone.
import { channelConformance, type Section } from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { providerBDelivery, providerBSigned } from "@svc/testkit/platforms/provider-b/delivery";
import { startProviderB } from "@svc/testkit/platforms/provider-b/server";
import definition from "../src/index.ts";
import { LINE, section, TOKEN } from "./open-channel.ts";

const root = `${import.meta.dirname}/..`;
const PERSON = "+12025550123";
const CHAT = "8f392755-6865-4b18-880a-227f9d8b458f";

const secretOf = (given: Section) => given["signing_secret"] as string;

featureConformance(definition, { root, config: section });

channelConformance(definition, {
  root,
  platform: () => startProviderB({ token: TOKEN, lines: [LINE] }),
  config: (platform) => ({ ...section, api_url: platform.apiUrl }),
  conversation: (platform) => ({ id: platform.openChat([PERSON]) }),
  idempotent: true,
  deliveries: {
    person: PERSON,
    stranger: "+12025550199",
    message: (message, given) => providerBDelivery({ ...message, chatId: CHAT }, secretOf(given)),
    own: (message, given) => providerBDelivery({ ...message, chatId: CHAT, own: true }, secretOf(given)),
    signed: (body, given, atMs) => providerBSigned(body, secretOf(given), atMs),
    proves: "body",
    freshness: { by: "timestamp", windowMs: 300_000 },
  },
  media: {
    file: (platform, bytes) => ({
      kind: "image",
      ref: platform.host(bytes, "image/png"),
      placeholder: "[IMAGE]",
    }),
    leadingTo: (_, url) => ({ kind: "image", ref: url, placeholder: "[IMAGE]" }),
  },
});
