import type { Logger } from "@svc/contract";
import { senderGate } from "@svc/kit";
import { CHANNEL } from "./names.ts";
import { isUserId } from "./address.ts";

/** Numbers are compared as numbers; the id of somebody who hides the number is compared letter by letter. */
export function allowedSenders(allowed: readonly string[], log: Logger): (sender: string) => boolean {
  const byNumber = senderGate({ allowed, mode: "phone", log, channel: CHANNEL });
  const byId = senderGate({ allowed, mode: "exact", log, channel: CHANNEL });
  return (sender) => (isUserId(sender) ? byId(sender) : byNumber(sender));
}
