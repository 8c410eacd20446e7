/** Whom an answer goes to: `[line:]digits`. */
import { SvcError } from "@svc/contract";

/** With the `+` that the platform leaves out; undefined for what is no phone number. */
export const phoneOf = (text: string): string | undefined =>
  /^\+?[0-9][0-9 ().-]*$/.test(text) ? `+${text.replaceAll(/[^0-9]/g, "")}` : undefined;

/** Throws DELIVERY_REFUSED. */
export function targetOf(tenantId: string | undefined, recipient: string): string {
  const prefix = tenantId === undefined ? "" : `${tenantId}:`;
  const phone = phoneOf(recipient.startsWith(prefix) ? recipient.slice(prefix.length) : recipient);
  if (phone !== undefined) return `${prefix}${phone.slice(1)}`;
  throw new SvcError("DELIVERY_REFUSED", "The recipient is not a phone number.", {
    hint: "Write it with the country code, like +15550001234.",
  });
}
