/** Fields of what a command asks for. */
import { type Json, SvcError } from "@svc/contract";

const MOST_LISTED = 1_000;

export const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);

/** Throws USAGE. */
export function limitOf(value: Json | undefined): number {
  const limit = value === undefined ? 50 : Number(value);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_LISTED) return limit;
  throw new SvcError("USAGE", `--limit takes a whole number from 1 to ${MOST_LISTED}.`);
}
