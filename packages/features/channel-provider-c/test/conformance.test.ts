// What every feature and every channel keeps, against a platform that is strict, hostile, slow or gone.
import { channelConformance, type Section } from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { providerCDelivery, providerCPosted } from "@svc/testkit/platforms/provider-c/delivery";
import { startProviderC } from "@svc/testkit/platforms/provider-c/server";
import definition from "../src/index.ts";
import { section, TOKEN } from "./open-channel.ts";

const root = `${import.meta.dirname}/..`;
const PERSON = "+12025550123";
const { tenant_id: _, ...config } = section;

const tokenOf = (given: Section) => given["callback_token"] as string;

featureConformance(definition, { root, config });

channelConformance(definition, {
  root,
  platform: () => startProviderC({ token: TOKEN }),
  config: (platform) => ({ ...config, api_url: platform.url }),
  conversation: () => ({ id: PERSON }),
  deliveries: {
    person: PERSON,
    stranger: "+12025550199",
    message: (message, given) => providerCDelivery(message, tokenOf(given)),
    own: (message, given) => providerCDelivery({ ...message, own: true }, tokenOf(given)),
    signed: (body, given) => providerCPosted(body, tokenOf(given)),
    proves: "sender",
    freshness: { by: "id" },
  },
  media: {
    file: (platform, bytes) => ({
      kind: "image",
      ref: platform.host(bytes, "image/png", "images/1.png"),
      placeholder: "[IMAGE]",
    }),
    leadingTo: (platform, url) => ({ kind: "image", ref: platform.redirect(url), placeholder: "[IMAGE]" }),
  },
});
