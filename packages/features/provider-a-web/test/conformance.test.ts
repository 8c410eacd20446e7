// What every feature and every channel keeps, by the real library against a platform that takes only what the protocol has.
import { randomBytes } from "node:crypto";
import type { Channel, Contributions, FeatureContext, FeatureDefinition, InboundMedia } from "@svc/contract";
import { channelConformance } from "@svc/testkit/conformance/channel-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import * as v from "valibot";
import definition from "../src/index.ts";
import { mediaRef } from "../src/media.ts";
import { create } from "../src/provider-a-web.ts";
import type { WebSection } from "../src/connection.ts";
import { linkedSecrets, sectionOf } from "./fixture.ts";
import { uploaded } from "@svc/testkit/platforms/provider-a-web/files";
import { PERSON, startWebPlatform, STRANGER, type WebPlatform } from "@svc/testkit/platforms/provider-a-web/server";

const root = `${import.meta.dirname}/..`;
const SECTION = {
  session_path: "whatsapp",
  mode: "business",
  allowed_numbers: [PERSON],
  group_policy: "allowlist",
  mention_only: true,
  api_url: "http://127.0.0.1:1",
};

featureConformance(definition, { root, config: SECTION });

/** The suite hands over a section; the platform that it is for knows the device that it links. */
const platforms = new Map<string, WebPlatform>();

/**
 * A device that is linked, whose connection begins with the first call: the suite sends and asks without `run`, as channels do whose
 * platform takes single requests.
 */
function linked(context: FeatureContext<WebSection>): Contributions {
  const made = create(context);
  const { channel } = made as { channel: Channel };
  const stop = new AbortController();
  let own: Promise<unknown> | undefined;
  let isRunBySuite = false;
  const connect = (): void => {
    if (isRunBySuite || stop.signal.aborted) return;
    own ??= made.run!(stop.signal)
      .catch(() => undefined)
      .finally(() => (own = undefined));
  };
  const ensured =
    <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      connect();
      return await work(...args);
    };
  return {
    ...made,
    channel: {
      ...channel,
      send: ensured(channel.send),
      check: ensured(channel.check!),
      typing: { ...channel.typing!, start: ensured(channel.typing!.start) },
      readMarks: { mark: ensured(channel.readMarks!.mark) },
    },
    async register(signal) {
      signal.throwIfAborted();
      const platform = platforms.get(context.config.api_url)!;
      await seedOnce(context);
      if (platform.mood !== "takes") return;
      connect();
      await channel.check!(signal);
    },
    async run(signal) {
      isRunBySuite = true;
      stop.abort(new Error("the suite runs it"));
      await own;
      await made.run!(signal);
    },
    async shutdown() {
      stop.abort(new Error("shut down"));
      await own;
      await made.shutdown?.();
    },
  };
}

async function seedOnce({ secrets, config }: FeatureContext<WebSection>): Promise<void> {
  if ((await secrets.list()).length > 0) return;
  await linkedSecrets(platforms.get(config.api_url)!, secrets);
}

const tested: FeatureDefinition = {
  ...definition,
  config: v.looseObject({}),
  load: async () => ({ create: (context) => linked(context as FeatureContext<WebSection>) }),
};

channelConformance<WebPlatform>(tested, {
  root,
  async platform() {
    const platform = await startWebPlatform();
    await platform.adopt();
    platforms.set(platform.url, platform);
    return platform;
  },
  config: (platform) => ({ ...sectionOf(platform) }),
  conversation: () => ({ id: PERSON }),
  idempotent: true,
  ownTextLimit: true,
  checkProves: "reachability",
  arrivals: {
    person: PERSON,
    stranger: STRANGER,
    write: async (platform, { id, from, text, atMs }) => void (await platform.write({ id, from, text, atMs })),
    writeOwn: (platform, { id, text, atMs }) => platform.writeOwn({ id, text, atMs, to: PERSON }),
    disconnect: (platform) => platform.disconnect(),
  },
  media: {
    file: (platform, bytes) => sealedImage(platform, bytes),
    leadingTo: (platform, url) => ({ ...sealedImage(platform, randomBytes(4)), ref: url }),
  },
});

function sealedImage(platform: WebPlatform, bytes: Uint8Array): InboundMedia {
  const ref = mediaRef("image", uploaded(platform, "image", bytes))!;
  return { kind: "image", ref, placeholder: "[image]", mimeType: "image/jpeg" };
}
