/** Ids of the platform, undefined when malformed: they become parts of paths and names of conversations. */

const matching =
  (pattern: RegExp) =>
  (value: unknown): string | undefined =>
    typeof value === "string" && pattern.test(value) ? value : undefined;

export const messageId = matching(/^om_[A-Za-z0-9_=-]{1,128}$/);
export const chatId = matching(/^oc_[A-Za-z0-9_=-]{1,128}$/);
/** Open ID: a person as this app knows them. */
export const personId = matching(/^ou_[A-Za-z0-9_=-]{1,128}$/);
/** Key of an image or a file in a message. */
export const fileKey = matching(/^[A-Za-z0-9_-]{1,256}$/);

/** Milliseconds since the epoch, which the platform writes as text; of some events it writes microseconds. */
export function timeOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{1,17}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number <= 0) return undefined;
  return number > 1e14 ? Math.floor(number / 1000) : number;
}
