// What every channel keeps, with this one's deliveries and a server that behaves as the documents and the source say.
import { channelConformance } from "@svc/testkit/conformance/channel-conformance";
import { providerDActivity, providerDDelivery } from "@svc/testkit/platforms/provider-d/delivery";
import { type ProviderD, startProviderD } from "@svc/testkit/platforms/provider-d/server";
import definition from "../src/index.ts";
import { SECRET, section } from "./open-channel.ts";

const secretOf = (config: Readonly<Record<string, unknown>>) => config["webhook_secret"] as string;

channelConformance<ProviderD>(definition, {
  root: `${import.meta.dirname}/..`,
  platform: () => startProviderD({ secret: SECRET }),
  config: (platform) => ({ ...section, base_url: platform.url, allowed_users: ["ada"] }),
  conversation: () => ({ id: "n3xtc10ud" }),
  deliveries: {
    person: "ada",
    stranger: "mallory",
    message: (message, config) => providerDDelivery({ ...message, room: "n3xtc10ud" }, secretOf(config)),
    signed: (body, config) => providerDActivity(body, secretOf(config)),
    proves: "body",
    freshness: { by: "once" },
  },
  media: {
    file: (platform, bytes) => mediaOf(platform.share(bytes, "application/pdf")),
    leadingTo: (platform, url) => mediaOf(platform.shareLeadingTo(url)),
  },
  checkProves: "reachability",
});

const mediaOf = (link: string) => ({
  kind: "document" as const,
  ref: link.slice(link.lastIndexOf("/") + 1),
  placeholder: "[file: a.pdf]",
  mimeType: "application/pdf",
});
