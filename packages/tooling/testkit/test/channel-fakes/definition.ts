import { defineFeature, type FeatureDefinition } from "@svc/contract";
import { config, type Context, soundParts } from "./channel.ts";
import type { Spoil } from "./spoil.ts";

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
