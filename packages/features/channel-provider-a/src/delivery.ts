/**
 * A delivery, which may hold several messages of several people, and statuses of what we sent.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages
 */
import type { Inbound, Json, Parsed } from "@svc/contract";
import { contactNames } from "./contacts.ts";
import { type Fields, fieldsOf, listOf, textOf } from "./fields.ts";
import { inboundOf } from "./message.ts";
import { updatesOf } from "./status.ts";

/** Reads any JSON at all: what is of an unknown shape holds no messages. */
export function deliveryReader(
  phoneNumberId: string,
  isAllowed: (sender: string) => boolean,
): (payload: Json, receivedAtMs: number) => Parsed {
  return (payload, receivedAtMs) => {
    const values = valuesOf(payload).filter((value) => isOurs(value, phoneNumberId));
    return {
      inbound: values.flatMap((value) => messagesOf(value, receivedAtMs)).filter(({ sender }) => isAllowed(sender)),
      updates: values.flatMap((value) => updatesOf(value)),
    };
  };
}

const valuesOf = (payload: Json): Fields[] =>
  listOf(fieldsOf(payload)["entry"])
    .flatMap((entry) => listOf(fieldsOf(entry)["changes"]))
    .map((change) => fieldsOf(fieldsOf(change)["value"]));

/** One app may have several numbers, and one callback URL for all of them. */
function isOurs(value: Fields, phoneNumberId: string): boolean {
  const id = textOf(fieldsOf(value["metadata"])["phone_number_id"]);
  return id === undefined || id === phoneNumberId;
}

function messagesOf(value: Fields, receivedAtMs: number): Inbound[] {
  const nameOf = contactNames(value["contacts"]);
  return listOf(value["messages"]).flatMap((message) => inboundOf(fieldsOf(message), nameOf, receivedAtMs) ?? []);
}
