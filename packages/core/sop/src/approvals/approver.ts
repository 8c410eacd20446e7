/** Whether somebody may answer on a channel. */
import { isAllowed } from "@svc/kit";

/**
 * As the channel's allowlist compares: numbers as numbers, addresses as addresses, other ids letter by letter. Everyone is never
 * an approver, whatever the list says.
 */
export function isApprover(approvers: readonly string[], sender: string): boolean {
  const people = approvers.filter((entry) => entry.trim() !== "*");
  return isAllowed(people, sender, modeOf(sender));
}

/** Channels hand over numbers with `+`. What has a slash before the `@` is an account of some server, not an address. */
function modeOf(sender: string): "phone" | "email" | "exact" {
  if (/^\+[0-9]+$/.test(sender)) return "phone";
  return /^[^/]+@/.test(sender) ? "email" : "exact";
}
