/** What handlers of the control socket read from a message. */
import { DEVICE_NAME_PATTERN, type ErrorCode, type Json, SvcError } from "@svc/contract";

/**
 * Ids are long: as with commits, so much of one as no other begins with names it. So does a name that is one's alone.
 * `nameOf`: what people call one. Throws `unknown` when nothing fits, and USAGE when several do: somebody may have named their device
 * like the id of another.
 */
export function byPrefix<T extends { readonly id: string }>(
  items: readonly T[],
  given: string,
  unknown: ErrorCode,
  nameOf: (item: T) => string | undefined = () => undefined,
): T {
  const exact = items.find(({ id }) => id === given);
  if (exact) return exact;
  const matches = given === "" ? [] : items.filter((item) => item.id.startsWith(given) || nameOf(item) === given);
  if (matches.length > 1) {
    throw new SvcError("USAGE", `${matches.length} have this name, or ids that begin so.`, {
      hint: "Give more of the id.",
    });
  }
  if (matches[0] === undefined) throw new SvcError(unknown);
  return matches[0];
}

/** A device's name as typed. Throws USAGE. */
export function deviceName(name: unknown): string {
  if (typeof name === "string" && DEVICE_NAME_PATTERN.test(name)) return name.trim();
  throw new SvcError("USAGE", "A device's name is 1 to 64 printable characters.");
}

/** Who it was, where a command of `svc` did it. */
export const AN_OPERATOR = "an operator at the command line";

const MOST_LISTED = 1_000;

export const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);

/** Throws USAGE. */
export function limitOf(value: Json | undefined): number {
  const limit = value === undefined ? 50 : Number(value);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_LISTED) return limit;
  throw new SvcError("USAGE", `--limit takes a whole number from 1 to ${MOST_LISTED}.`);
}
