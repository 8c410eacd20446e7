/**
 * What became of messages that we sent.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status
 */
import type { DeliveryUpdate } from "@svc/contract";
import { type Fields, fieldsOf, listOf, textOf, wordOf } from "./fields.ts";
import { failureOf } from "./problems.ts";

export function updatesOf(value: Fields): DeliveryUpdate[] {
  return listOf(value["statuses"]).flatMap((entry) => updateOf(fieldsOf(entry)) ?? []);
}

function updateOf({ id, status, errors }: Fields): DeliveryUpdate | undefined {
  const platformId = wordOf(id);
  const known = STATUSES.get(textOf(status) ?? "");
  if (platformId === undefined || known === undefined) return undefined;
  return { platformId, status: known, ...(known === "failed" && { reason: failureOf(listOf(errors)) }) };
}

/** `played`: a voice message that was listened to. */
const STATUSES: ReadonlyMap<string, DeliveryUpdate["status"]> = new Map([
  ["sent", "sent"],
  ["delivered", "delivered"],
  ["read", "read"],
  ["played", "read"],
  ["failed", "failed"],
]);
