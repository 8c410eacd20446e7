/** What approvals and notifications go by of the channels, as the config in force says. */
import type { Messaging } from "@svc/agent";
import type { Conversation } from "@svc/contract";
import { channelIdOf } from "@svc/kernel";
import type { ChannelAnswers, NotifiedChannel } from "@svc/sop";
import type { Generation } from "../generation.ts";
import type { Service } from "../service.ts";

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

/** As `Channel.text` says; the default of the contract. */
const MAX_CHARS = 4_000;

export function notifiedChannels({ context, lifecycle, generation, messaging }: Parts): NotifiedChannels {
  const { catalogue } = context.composition;
  const known = catalogue
    .filter(({ kind }) => kind === "channel")
    .map(({ id, sections: [section] }) => channelIdOf({ id, ...(section !== undefined && { section }) }));
  const sectionOf = (id: string): { approvers?: string[]; notification_target?: string } =>
    (generation().config.section(`channels_config.${id}`) as object | undefined) ?? {};
  const maxChars = (id: string): number => generation().registry.channels.get(id)?.text?.maxChars ?? MAX_CHARS;
  const targetOf = (id: string): Conversation | undefined => {
    const target = sectionOf(id).notification_target?.trim();
    return target ? { channel: id, id: target } : undefined;
  };
  const isRunning = (id: string): boolean => {
    const owner = generation().registry.channelOwners.get(id);
    return owner !== undefined && lifecycle.stateOf(owner) !== "failed";
  };
  return {
    known: () => known,
    channel(id) {
      const target = targetOf(id);
      const backlog = target ? messaging().backlog(target) : 0;
      return { isRunning: isRunning(id), target, backlog, maxChars: maxChars(id) };
    },
    answers: (id) => ({ approvers: sectionOf(id).approvers ?? [], maxChars: maxChars(id) }),
    targets: () =>
      generation()
        .registry.channels.names()
        .flatMap((id) => (isRunning(id) ? (targetOf(id) ?? []) : [])),
  };
}
