/** A shutdown postpones a turn to the next process. Its pending approvals stay open meanwhile. */
import { SvcError } from "./error.ts";

const POSTPONED = "it goes on in the next process";

export const postponed = (): SvcError =>
  new SvcError("TURN_CANCELLED", "The service is stopping.", { cause: POSTPONED });

/** Of the reason why a turn, a run or a question of theirs was called off. */
export function isPostponed(reason: unknown): boolean {
  for (let error = reason; error instanceof SvcError; error = error.cause) if (error.cause === POSTPONED) return true;
  return false;
}
