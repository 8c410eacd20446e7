/** Names, addresses and fields of the platform's JSON, read without trust. */
import { type Json, SvcError } from "@svc/contract";
import { textOf } from "@svc/kit";

/** The channel's id: the last part of the section's name. */
export const CHANNEL = "provider_a";

/** Every request says which of the platform's products it is meant for. */
export const PRODUCT = "whatsapp";

/**
 * Who and where, as the platform names it. A person is a phone number; who has taken a user name may be a user id only
 * (business-scoped: the country, a dot, then letters and digits). Anything else that is long enough is a group.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-scoped-user-ids
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/groups/groups-messaging
 */
const PHONE = /^\+?[0-9]{1,20}$/;
const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;
const GROUP_ID = /^[A-Za-z0-9_+/=-]{20,256}$/;

export const isUserId = (text: string): boolean => USER_ID.test(text);
export const isGroupId = (text: string): boolean => GROUP_ID.test(text);

/** With the `+`, which the platform omits; undefined for an invalid phone number. */
export const phoneOf = (text: string): string | undefined =>
  PHONE.test(text) ? `+${text.replace("+", "")}` : undefined;

/** Undefined for an invalid user id. */
export const userIdOf = (text: string): string | undefined => (isUserId(text) ? text : undefined);

export type Recipient =
  | { readonly recipient_type: "individual" | "group"; readonly to: string }
  | { readonly recipient_type: "individual"; readonly recipient: string };

/** Throws DELIVERY_REFUSED for any other id. */
export function recipientOf(conversationId: string): Recipient {
  // A person, or a model, writes a number with spaces.
  const phone = phoneOf(conversationId.replaceAll(/[\s().-]/g, ""));
  if (phone !== undefined) return { recipient_type: "individual", to: phone };
  if (isUserId(conversationId)) return { recipient_type: "individual", recipient: conversationId };
  if (isGroupId(conversationId)) return { recipient_type: "group", to: conversationId };
  throw new SvcError("DELIVERY_REFUSED", "This is no phone number, user id or group of the platform.", {
    hint: "Write phone numbers with the country code, like +4915112345678.",
  });
}

export { type Fields, fieldsOf, listOf, textOf, wordOf } from "@svc/kit";

/** Also of text, as some numbers come. Nothing else is converted: `{"toString":1}` would throw. */
export function numberOf(value: Json | undefined): number | undefined {
  const number = typeof value === "number" ? value : Number(textOf(value) ?? Number.NaN);
  return Number.isFinite(number) ? number : undefined;
}
