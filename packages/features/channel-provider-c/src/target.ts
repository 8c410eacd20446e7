/** Whom an answer goes to: `[line:]digits`. */
import { SvcError } from "@svc/contract";

/** With the `+`, which the platform omits; undefined for an invalid phone number. */
export const phoneOf = (text: string): string | undefined =>
  /^\+?[0-9][0-9 ().-]*$/.test(text) ? `+${text.replaceAll(/[^0-9]/g, "")}` : undefined;

/** In the form of a received message; undefined for an invalid phone number. */
export const recipientOf = (tenantId: string | undefined, recipient: string): string | undefined =>
  phoneOf(recipient.startsWith(prefixOf(tenantId)) ? recipient.slice(prefixOf(tenantId).length) : recipient);

/** Throws DELIVERY_REFUSED. */
export function targetOf(tenantId: string | undefined, recipient: string): string {
  const phone = recipientOf(tenantId, recipient);
  if (phone !== undefined) return `${prefixOf(tenantId)}${phone.slice(1)}`;
  throw new SvcError("DELIVERY_REFUSED", "The recipient is not a phone number.", {
    hint: "Write it with the country code, like +15550001234.",
  });
}

const prefixOf = (tenantId: string | undefined): string => (tenantId === undefined ? "" : `${tenantId}:`);
