/** What the platform answers to a message that it took. */
import type { Conversation, Receipt } from "@svc/contract";
import { phoneOf, recipientOf } from "./address.ts";
import { type Fields, fieldsOf, listOf, textOf } from "./fields.ts";

/**
 * An answer without a usable id is an acceptance all the same. The number it names is the one that replies come from: of some
 * countries the platform has another form of a number than people write.
 */
export function receiptOf({ messages, contacts }: Fields, { channel, id }: Conversation): Receipt {
  const platformId = textOf(fieldsOf(listOf(messages)[0])["id"]);
  const known = textOf(fieldsOf(listOf(contacts)[0])["wa_id"]) ?? "";
  const phone = recipientOf(id).recipient_type === "group" ? undefined : phoneOf(known);
  return {
    ...(platformId !== undefined && { platformId }),
    ...(phone !== undefined && phone !== id && { opened: { channel, id: phone } }),
  };
}
