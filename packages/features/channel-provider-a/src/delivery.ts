/**
 * A delivery, which may hold several messages of several people, and statuses of what we sent.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages
 */
import type { Inbound, Json, Logger, Parsed } from "@svc/contract";
import { contactNames } from "./contacts.ts";
import { type Fields, fieldsOf, listOf, textOf } from "./fields.ts";
import { inboundOf } from "./message.ts";
import { CHANNEL } from "./names.ts";
import { updatesOf } from "./status.ts";

/** Reads any JSON at all: what is of an unknown shape holds no messages. */
export function deliveryReader(
  phoneNumberId: string,
  isAllowed: (sender: string) => boolean,
  log: Logger,
): (payload: Json, receivedAtMs: number) => Parsed {
  const isOurs = ownValues(phoneNumberId, log);
  return (payload, receivedAtMs) => {
    const values = valuesOf(payload).filter(isOurs);
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

/** One app may have several numbers, and one callback URL for all of them. Told once, as it may be a mistake in the config. */
function ownValues(phoneNumberId: string, log: Logger): (value: Fields) => boolean {
  let isTold = false;
  return (value) => {
    const id = textOf(fieldsOf(value["metadata"])["phone_number_id"]);
    if (id === undefined || id === phoneNumberId) return true;
    if (!isTold && listOf(value["messages"]).length > 0) {
      isTold = true;
      log.info("a message to another number than phone_number_id is not answered", { channel: CHANNEL });
    }
    return false;
  };
}

function messagesOf(value: Fields, receivedAtMs: number): Inbound[] {
  const nameOf = contactNames(value["contacts"]);
  return listOf(value["messages"]).flatMap((message) => inboundOf(fieldsOf(message), nameOf, receivedAtMs) ?? []);
}
