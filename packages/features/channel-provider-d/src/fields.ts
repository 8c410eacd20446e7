/** What both shapes of a delivery have in common. */
import * as v from "valibot";

export interface Surroundings {
  readonly channel: string;
  readonly baseUrl: string;
  /** Blank: no sender is ignored by name. */
  readonly botName: string;
}

/**
 * A user's id unchanged; other ids get their kind as a prefix. A guest, or a person of another server, must not pass as a user
 * with the same id.
 */
export const senderOf = (kind: string, id: string): string => (kind === "users" ? id : `${kind}/${id}`);

/** Ids are numbers, in the order of the messages. */
export function numberOf(messageId: string): number | undefined {
  const number = /^[1-9]\d{0,15}$/.test(messageId) ? Number(messageId) : undefined;
  return Number.isSafeInteger(number) ? number : undefined;
}

export function isOwnName(name: string, botName: string): boolean {
  return botName.trim() !== "" && name.trim().toLowerCase() === botName.trim().toLowerCase();
}

/** A text; any other value reads as blank. */
export const anyText = v.fallback(v.string(), "");
/** A name or a type: longer than any of the platform's, or blank, it is nothing. */
export const anyWord = v.fallback(v.pipe(v.string(), v.trim(), v.maxLength(512)), "");
/** Numbers in one shape, texts in the other. */
export const anyId = v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.regex(/^[\w-]{1,64}$/));
