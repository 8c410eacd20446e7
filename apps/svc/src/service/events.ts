/** What happens inside, told to everybody who wants to know: observers, subscribers, the picture of the last hour. */
import { randomBytes } from "node:crypto";
import { type ClientId, featureIdOf, type SvcEvent } from "@svc/contract";
import {
  Activity,
  channelIdOf,
  createEventHub,
  type EventHub,
  type FeatureStatus,
  type StampedEvent,
  systemClock,
} from "@svc/kernel";
import type { Store } from "@svc/store";
import type { OpenedContext } from "./context.ts";

export interface ServiceEvents {
  readonly hub: EventHub;
  readonly activity: Activity;
  /** Never throws. With the id under which subscribers see it. */
  readonly publish: (event: SvcEvent) => StampedEvent;
  /** Of the lifecycle: a feature is in another state. */
  readonly onState: (status: FeatureStatus) => void;
}

export interface EventParts {
  readonly context: Pick<OpenedContext, "log" | "composition">;
  /** Tells the observers of features. */
  readonly observe: (event: SvcEvent) => void;
  /** Once it is open. */
  readonly devices: () => Store["devices"] | undefined;
}

export function openEvents({ context, observe, devices }: EventParts): ServiceEvents {
  const { log, composition } = context;
  const deviceOf = (owner: ClientId): string | undefined => devices()?.ofClient(owner)?.id;
  const activity = new Activity(systemClock);
  const boot = randomBytes(6).toString("hex");
  const hub = createEventHub({ clock: systemClock, boot, log, redact: log.redact, deviceOf });
  const kinds = new Map(composition.catalogue.map(({ id, kind }) => [id, kind]));
  const channels = new Map(
    composition.features
      .filter((part) => kinds.get(featureIdOf(part)) === "channel")
      .map((part) => [part.id, channelIdOf(part)]),
  );
  const publish = (event: SvcEvent): StampedEvent => {
    activity.record(event);
    observe(event);
    return hub.publish(event);
  };
  return {
    hub,
    activity,
    publish,
    onState: ({ id: feature, state, reason }) => {
      const channel = channels.get(feature);
      if (channel !== undefined) publish({ type: "channel-health", channel, feature, state, reason });
    },
  };
}
