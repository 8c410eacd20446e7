/** Ids are long: as with commits, so much of one as no other begins with names it. */
import { type ErrorCode, SvcError } from "@svc/contract";

/** Throws `unknown` when no id begins so, and USAGE when several do. */
export function byPrefix<T extends { readonly id: string }>(items: readonly T[], given: string, unknown: ErrorCode): T {
  const exact = items.find(({ id }) => id === given);
  if (exact) return exact;
  const matches = given === "" ? [] : items.filter(({ id }) => id.startsWith(given));
  if (matches.length > 1) {
    throw new SvcError("USAGE", `${matches.length} ids begin so.`, { hint: "Give more of the id." });
  }
  if (matches[0] === undefined) throw new SvcError(unknown);
  return matches[0];
}
