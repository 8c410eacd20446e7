/** The people a delivery tells of. */
import type { Json } from "@svc/contract";
import { type Fields, fieldsOf, listOf, wordOf } from "./fields.ts";

/** Name of who wrote a message. */
export type NameOf = (message: Fields) => string | undefined;

/** Looked up, not looked for: going through all contacts for each message, a megabyte of both held everybody up for seconds. */
export function contactNames(list: Json | undefined): NameOf {
  const contacts = listOf(list).map(fieldsOf);
  const byNumber = firstBy(contacts, "wa_id");
  const byUserId = firstBy(contacts, "user_id");
  // The only contact is the sender's, even where its id differs from the number, as in some countries.
  const only = contacts.length === 1 ? contacts[0] : undefined;
  return ({ from, from_user_id: userId }) => {
    const contact = byNumber.get(from) ?? byUserId.get(userId) ?? only;
    const { name, username } = fieldsOf(contact?.["profile"]);
    return wordOf(name) ?? wordOf(username);
  };
}

function firstBy(contacts: readonly Fields[], key: string): ReadonlyMap<Json | undefined, Fields> {
  const found = new Map<Json | undefined, Fields>();
  for (const contact of contacts) {
    const id = contact[key];
    if (id !== undefined && !found.has(id)) found.set(id, contact);
  }
  return found;
}
