/** What approvals and notifications go by of the channels, as the config in force says. */
import type { Messaging } from "@svc/messaging";
import { type Conversation, DEFAULT_MAX_CHARS } from "@svc/contract";
import { channelIdsOf } from "@svc/kernel";
import type { ChannelAnswers, NotifiedChannel } from "@svc/sop";
import type { Generation } from "../generation.ts";
import type { Service } from "../service.ts";
import { approversOf, targetOf, targetsOf } from "./channel-section.ts";

type Parts = Pick<Service, "context" | "lifecycle"> & {
  readonly generation: () => Generation;
  readonly messaging: () => Pick<Messaging, "backlog">;
};

export interface NotifiedChannels {
  /** Ids of all that the catalogue names, in this build or not. */
  known(): readonly string[];
  channel(id: string): NotifiedChannel | undefined;
  answers(id: string): ChannelAnswers;
  /** The `notification_target` of every channel in service. */
  targets(): readonly Conversation[];
}

export function notifiedChannels({ context, lifecycle, generation, messaging }: Parts): NotifiedChannels {
  const { catalogue } = context.composition;
  const known = catalogue.filter(({ kind }) => kind === "channel").flatMap(channelIdsOf);
  const maxChars = (id: string): number => generation().registry.channels.get(id)?.text?.maxChars ?? DEFAULT_MAX_CHARS;
  const isRunning = (id: string): boolean => {
    const owner = generation().registry.channelOwners.get(id);
    return owner !== undefined && lifecycle.stateOf(owner) !== "failed";
  };
  return {
    known: () => known,
    channel(id) {
      const target = targetOf(generation().config, id);
      const backlog = target ? messaging().backlog(target) : 0;
      const isConfigured = generation().registry.channelOwners.has(id);
      return { isConfigured, target, backlog, maxChars: maxChars(id) };
    },
    answers: (id) => ({ approvers: approversOf(generation().config, id), maxChars: maxChars(id) }),
    targets: () => targetsOf(generation().config).filter(({ channel }) => isRunning(channel)),
  };
}
