/** What the section of a channel says of approvals, notifications, and whom the agent may write to. */
import type { LoadedConfig } from "@svc/config";
import type { Conversation } from "@svc/contract";
import { addApproverCommand } from "@svc/sop";

type Config = Pick<LoadedConfig, "section" | "sectionNames">;

const BEGINNING = "channels_config.";

const sectionOf = (
  config: Config,
  channel: string,
): {
  readonly approvers?: readonly string[];
  readonly notification_target?: string;
  readonly allowed_targets?: readonly string[];
} => (config.section(`${BEGINNING}${channel}`) as object | undefined) ?? {};

export const approversOf = (config: Config, channel: string): readonly string[] =>
  sectionOf(config, channel).approvers ?? [];

export const allowedTargetsOf = (config: Config, channel: string): readonly string[] =>
  sectionOf(config, channel).allowed_targets ?? [];

export function targetOf(config: Config, channel: string): Conversation | undefined {
  const target = sectionOf(config, channel).notification_target?.trim();
  return target ? { channel, id: target } : undefined;
}

/** Of all channels that are turned on, whether or not they run. */
export const targetsOf = (config: Config): Conversation[] =>
  config
    .sectionNames()
    .filter((name) => name.startsWith(BEGINNING))
    .flatMap((name) => targetOf(config, name.slice(BEGINNING.length)) ?? []);

/** What a set-up says of a channel in which no account may answer approval requests. */
export const noApproversNote = (channel: string): string =>
  `No account may answer approval requests in ${channel}: operators answer on the page or with svc approvals. ` +
  `To have an account answer there: ${addApproverCommand(channel)}`;
