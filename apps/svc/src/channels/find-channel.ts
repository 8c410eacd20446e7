/** A channel of a running service by its name; where there is none of that name, what is missing. */
import { type CatalogueEntry, type Channel, type FeatureDefinition, featureIdOf, SvcError } from "@svc/contract";
import { type Registry, channelIdOf, channelIdsOf } from "@svc/runtime";
import type { Service } from "../service/service.ts";

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
