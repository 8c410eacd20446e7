// What every feature and every channel keeps, against a platform that takes only what its documents say.
import { channelConformance, type Section } from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { providerADelivery, signedByProviderA } from "@svc/testkit/platforms/provider-a/delivery";
import { startProviderA } from "@svc/testkit/platforms/provider-a/server";
import definition from "../src/index.ts";
import { SECTION } from "./harness.ts";

const root = `${import.meta.dirname}/..`;
const PERSON = "+16505551234";

featureConformance(definition, { root, config: SECTION });

const numberOf = (section: Section) => ({
  phoneNumberId: String(section["phone_number_id"]),
  appSecret: section["app_secret"] as string | undefined,
});

channelConformance(definition, {
  root,
  platform: () => startProviderA({ accessToken: SECTION.access_token, phoneNumberId: SECTION.phone_number_id }),
  config: ({ apiUrl }) => ({ ...SECTION, api_url: apiUrl, allowed_numbers: [PERSON] }),
  conversation: () => ({ id: PERSON }),
  deliveries: {
    person: PERSON,
    stranger: "+16505559999",
    message: (message, section) => providerADelivery(numberOf(section), message),
    signed: (body, section) => signedByProviderA(numberOf(section), body),
    proves: "body",
    freshness: { by: "age" },
  },
  prompts: {
    pressed({ sent }, { approved, ...press }, section) {
      const { title, id } = sent.at(-1)!.replies[approved ? 0 : 1]!;
      const interactive = { type: "button_reply", button_reply: { id, title } };
      return providerADelivery(numberOf(section), { ...press, content: { type: "interactive", interactive } });
    },
  },
  media: {
    file: (platform, bytes) => ({
      kind: "image",
      ref: platform.host(bytes, "image/jpeg"),
      placeholder: "[image]",
      mimeType: "image/jpeg",
    }),
    leadingTo: (platform, url) => ({
      kind: "image",
      ref: platform.host(new Uint8Array(1), "image/jpeg", url),
      placeholder: "[image]",
    }),
  },
});
