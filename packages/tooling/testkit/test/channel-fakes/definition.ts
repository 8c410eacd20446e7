import { apiUrl, defineFeature, type FeatureDefinition, secret, streamKeys } from "@svc/contract";
import * as v from "valibot";
import { type Context, soundParts } from "./channel.ts";
import type { Spoil } from "./spoil.ts";

const config = v.strictObject({
  api_url: apiUrl("https://chat.example.org"),
  token: secret(),
  signing_secret: v.optional(secret()),
  allowed: v.array(v.string()),
  ...streamKeys(1000),
});

export type Config = v.InferOutput<typeof config>;

/** `spoil` breaks something of it, or leaves it out. */
export const fakeChannel = (spoil: Spoil = (parts) => parts): FeatureDefinition =>
  defineFeature({
    id: "channel-chat",
    section: "channels_config.chat",
    config,
    load: async () => ({
      create(context: Context) {
        const { ingress, ...rest } = spoil(soundParts(context), context);
        return { ...rest, ...(ingress && { ingress: [ingress] }) };
      },
    }),
  }) as unknown as FeatureDefinition;
