/** A message of ours, by the id that the platform gives it. */
import { type Conversation, type Json, type Receipt, SvcError } from "@svc/contract";
import { fieldsOf } from "../api/fields.ts";
import { unreadable } from "../api/rest.ts";
import { idOf } from "../api/snowflake.ts";

/** Without one nothing was taken, whatever the answer says: the same key makes it safe to ask again. */
export function messageId(json: Json | undefined): string {
  const id = idOf(fieldsOf(json)["id"]);
  if (id === undefined) throw unreadable();
  return id;
}

export function receiptOf(platformId: string | undefined, opened: Conversation | undefined): Receipt {
  return { ...(platformId !== undefined && { platformId }), ...(opened && { opened }) };
}

/** Of what the platform calls a message of ours. Throws DELIVERY_REFUSED. */
export function sentId(platformId: string): string {
  const id = idOf(platformId);
  if (id === undefined) throw new SvcError("DELIVERY_REFUSED", "This is no id of a message.");
  return id;
}
