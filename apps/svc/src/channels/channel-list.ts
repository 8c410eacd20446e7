/** The channels of the config: how each is, whether its deliveries are proven, and where its platform has to call. */
import type { ChannelReport } from "@svc/gateway";
import { channelIdOf } from "@svc/kernel";
import type { Service } from "../service/service.ts";

type ChannelLine = ChannelReport["channels"][number];

export function channelList({
  context,
  config,
  lifecycle,
  generation,
}: Pick<Service, "context" | "config" | "lifecycle" | "generation">): ChannelLine[] {
  const kinds = new Set(context.composition.catalogue.filter(({ kind }) => kind === "channel").map(({ id }) => id));
  const states = new Map(lifecycle.features().map((feature) => [feature.id, feature]));
  const base = config.core.gateway.public_url?.replace(/\/+$/, "") ?? "";
  return context.composition.features
    .filter(({ id }) => kinds.has(id) && states.has(id))
    .map((definition) => {
      const ways = generation.registry.ingress.filter(({ feature }) => feature === definition.id);
      const { state, reason } = states.get(definition.id)!;
      return {
        id: channelIdOf(definition),
        feature: definition.id,
        state,
        reason: reason ?? null,
        callback_urls: ways.map(({ ingress }) => `${base}${ingress.path}`),
        signed: ways.length === 0 ? null : ways.every(({ ingress }) => ingress.signed),
      };
    });
}

/** Channels whose deliveries nobody proves: told at start, by `svc doctor` and by `/health`. */
export const unsignedChannels = ({ generation, config }: Pick<Service, "generation" | "config">): string[] =>
  config.core.gateway.require_signatures
    ? []
    : [...new Set(generation.registry.ingress.filter(({ ingress }) => !ingress.signed).map(({ channel }) => channel))];
