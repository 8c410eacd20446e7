/**
 * Whom the agent may write to by itself. Somebody can talk it into anything, and whoever is asked for a yes sees a number and no
 * person: so the config says who, and those who wrote to it themselves.
 */
import { lanesOf } from "@svc/kit";
import type { Store } from "@svc/store";
import type { ChannelIdentity, ChannelTargets } from "../types.ts";

export interface TargetParts {
  readonly store: Pick<Store, "knownLanes">;
  readonly identity: Pick<ChannelIdentity, "channel">;
  /** What the channel's section says, as it is in force now. */
  readonly targetsOf: (channel: string) => ChannelTargets;
}

/** Undefined: it may. Else the sentence that says why not, and what the owner can do. */
export function refusalOf(parts: TargetParts, channel: string, to: string): string | undefined {
  const { allowed, notification } = parts.targetsOf(channel);
  const listed = [...allowed, ...(notification === undefined ? [] : [notification])];
  if (allowed.includes("*") || listed.some((target) => isSame(target, to))) return undefined;
  const owner = parts.identity.channel(channel);
  if (spellingsOf(to).some((id) => parts.store.knownLanes.any(owner, lanesOf({ channel, id })))) return undefined;
  return (
    `The agent may write on this channel to those who wrote to it, and to what channels_config.${channel}.allowed_targets lists; ` +
    "this target is neither. The owner can add it there."
  );
}

function isSame(listed: string, to: string): boolean {
  const [one, other] = [listed.trim(), to.trim()];
  if (one === other) return true;
  // Only where one of them surely is a number: another platform's ids are digits too, with a minus before them.
  const isNumber = one.startsWith("+") || other.startsWith("+");
  return isNumber && digitsOf(one) !== undefined && digitsOf(one) === digitsOf(other);
}

/** A number is one and the same with and without its plus, and however it is grouped. */
function spellingsOf(to: string): string[] {
  const id = to.trim();
  const digits = digitsOf(id);
  return digits === undefined ? [id] : [...new Set([id, digits, `+${digits}`])];
}

const digitsOf = (text: string): string | undefined =>
  /^\+?\d[\d .()/-]*$/.test(text) ? text.replaceAll(/\D/g, "") : undefined;
