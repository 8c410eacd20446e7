/** The channels of the config: how each is, whether its deliveries are proven, and where its platform has to call. */
import { featureIdOf, trimEndOf } from "@svc/contract";
import type { MessageAdmin } from "@svc/messaging";
import type { ChannelStatus } from "@svc/api";
import { type FeatureStatus, channelIdOf } from "@svc/runtime";
import type { Service } from "../service/service.ts";

export function channelList({
  context,
  config,
  lifecycle,
  generation,
  messaging,
}: Pick<Service, "context" | "config" | "lifecycle" | "generation" | "messaging">): ChannelStatus[] {
  const kinds = new Set(context.composition.catalogue.filter(({ kind }) => kind === "channel").map(({ id }) => id));
  const states = new Map(lifecycle.features().map((feature) => [feature.id, feature]));
  // Its section may turn on a part of it that is no channel.
  const isChannel = (feature: string): boolean =>
    states.get(feature)?.state === "failed" ||
    [...generation.registry.channelOwners].some(([, owner]) => owner === feature);
  const base = trimEndOf(config.core.gateway.public_url ?? "", "/");
  return context.composition.features
    .filter((part) => kinds.has(featureIdOf(part)) && states.has(part.id) && isChannel(part.id))
    .map((definition) => {
      const ways = generation.registry.ingress.filter(({ feature }) => feature === definition.id);
      const { state, reason, lastError: failure } = states.get(definition.id)!;
      const id = channelIdOf(definition);
      return {
        id,
        feature: definition.id,
        state,
        reason: reason ?? null,
        last_failure: lastFailure(failure),
        callback_urls: ways.map(({ ingress }) => `${base}${ingress.path}`),
        signed: ways.length === 0 ? null : ways.every(({ ingress }) => ingress.signed),
        last_message_at: lastMessageAt(messaging.messageAdmin, id),
        last_error: lastError(messaging.messageAdmin, id),
      };
    });
}

export const lastFailure = (error: FeatureStatus["lastError"]): ChannelStatus["last_failure"] =>
  error ? { reason: error.reason, at: new Date(error.at).toISOString() } : null;

function lastMessageAt(messageAdmin: MessageAdmin, channel: string): string | null {
  const [newest] = messageAdmin.list({ box: "in", channel }, 1);
  return newest ? new Date(newest.atMs).toISOString() : null;
}

function lastError(messageAdmin: MessageAdmin, channel: string): ChannelStatus["last_error"] {
  const ended = [
    ...messageAdmin.list({ box: "in", channel, state: "failed" }, 1),
    ...messageAdmin.list({ box: "out", channel, state: "dead" }, 1),
  ].toSorted((a, b) => (b.endedAtMs ?? 0) - (a.endedAtMs ?? 0));
  const [newest] = ended;
  if (newest?.error === undefined) return null;
  return { code: newest.error, message: newest.id, at: new Date(newest.endedAtMs ?? newest.atMs).toISOString() };
}

/** Channels whose deliveries nobody proves: told at start, by `svc doctor` and by `/health`. */
export const unsignedChannels = ({ generation, config }: Pick<Service, "generation" | "config">): string[] =>
  config.core.gateway.require_signatures
    ? []
    : [...new Set(generation.registry.ingress.filter(({ ingress }) => !ingress.signed).map(({ channel }) => channel))];
