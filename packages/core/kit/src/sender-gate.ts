import type { Logger } from "@svc/contract";
import { type AllowMode, isAllowed } from "./allowlist.ts";

export interface SenderGateOptions {
  readonly allowed: readonly string[];
  readonly mode: AllowMode;
  readonly log: Logger;
  readonly channel: string;
}

/** `isAllowed` that logs each refused sender once, so that a sender can't fill the log. */
export function senderGate({ allowed, mode, log, channel }: SenderGateOptions): (sender: string) => boolean {
  const told = new Set<string>();
  return (sender) => {
    if (isAllowed(allowed, sender, mode)) return true;
    const name = shortened(sender);
    if (told.has(name) || told.size > MAX_TOLD) return false;
    told.add(name);
    if (told.size > MAX_TOLD)
      log.info("more senders are not on the allowlist; they are not told any more", { channel });
    else log.info("a sender is not on the allowlist", { channel, sender: name });
    return false;
  };
}

/** Senders are made up in no time: neither the log nor the memory grows with them. */
const MAX_TOLD = 1000;

/** A copy: a slice would keep a whole megabyte in memory. Senders with the same beginning share one log line. */
function shortened(sender: string): string {
  return sender.length <= MAX_CHARS ? sender : `${Buffer.from(sender.slice(0, MAX_CHARS)).toString()}…`;
}

/** Longer than any phone number, address or user id. */
const MAX_CHARS = 320;
