/** The channels of a running service: one by its name, or what is missing; and how each of them is. */
import type { ChannelStatus } from "@svc/api";
import {
  type CatalogueEntry,
  type Channel,
  type FeatureDefinition,
  featureIdOf,
  SvcError,
  trimEndOf,
} from "@svc/contract";
import type { MessageAdmin } from "@svc/messaging";
import { channelIdOf, channelIdsOf, type FeatureStatus, type Registry } from "@svc/runtime";
import type { Service } from "./service.ts";

type Deps = Pick<Service, "context" | "lifecycle" | "generation">;

/** Throws CHANNEL_UNKNOWN, and CHANNEL_DOWN for one whose feature gave up before it was in service. */
export function findChannel({ context, lifecycle, generation: { registry } }: Deps, id: string): Channel {
  const channel = registry.channels.get(id);
  if (channel) return channel;
  const { features, catalogue } = context.composition;
  const entry = catalogue.find((entry) => entry.kind === "channel" && channelIdsOf(entry).includes(id));
  if (!entry) throw unknownChannel(id, registry);
  const definition = features.find((part) => featureIdOf(part) === entry.id && channelIdOf(part) === id);
  if (!definition) throw notInBuild(id, entry);
  const status = lifecycle.features().find((feature) => feature.id === definition.id);
  if (status?.state === "failed") {
    throw new SvcError("CHANNEL_DOWN", `The channel ${id} is not in service: ${status.reason ?? "no reason given"}`, {
      hint: "Fix its section, then: svc reload",
    });
  }
  throw notConfigured(id, definition, status !== undefined);
}

/** Of a name that no feature has. */
export function unknownChannel(id: string, registry: Registry): SvcError {
  const names = registry.channels.names().toSorted();
  const hint =
    names.length === 0 ? "No channel is configured. See: svc features" : `Configured are: ${names.join(", ")}.`;
  return new SvcError(
    "CHANNEL_UNKNOWN",
    `There is no channel ${JSON.stringify(id)} in the config, or it is not enabled.`,
    { hint },
  );
}

/** `provider-a` is what its path says, `provider_a` what its section says. */
export const channelName = (typed: string): string => typed.trim().toLowerCase().replaceAll("-", "_");

function notInBuild(id: string, { build, planned }: CatalogueEntry): SvcError {
  const why = planned ? "is planned and not written yet" : "is not in this build";
  return new SvcError("CHANNEL_UNKNOWN", `The channel ${id} ${why}.`, {
    ...(!planned && { hint: `Build it in: ${build}` }),
  });
}

/** `isOn`: its section is there, and something of it is missing. */
function notConfigured(id: string, { section, extends: extended }: FeatureDefinition, isOn: boolean): SvcError {
  const name = `[${section ?? extended ?? id}]`;
  if (isOn) {
    return new SvcError("CHANNEL_UNKNOWN", `The channel ${id} is not on: a key is missing in ${name}.`, {
      hint: "The log says which: svc logs",
    });
  }
  const what =
    section === undefined ? `its keys are not in ${name}` : `there is no ${name} in the config, or it is off`;
  return new SvcError("CHANNEL_UNKNOWN", `The channel ${id} is not configured: ${what}.`, {
    hint: `Add it: svc channels add ${id.replaceAll("_", "-")}`,
  });
}

/** The channels of the config: how each is, whether its deliveries are proven, and where its platform has to call. */
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
