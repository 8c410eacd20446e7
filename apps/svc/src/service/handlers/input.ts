/** What handlers of the control socket read from a message. */
import { type ErrorCode, SvcError } from "@svc/contract";

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

/** Who it was, where a command of `svc` did it. */
export const AN_OPERATOR = "an operator at the command line";
