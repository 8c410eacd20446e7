/**
 * The paths below `/api/` that belong to features, whether this build has the feature or not: each says why nobody serves it,
 * and what to do about that.
 */
import { errorReply, type Reply } from "../http/reply.ts";

export interface FeaturePath {
  readonly feature: string;
  /** Why it is not there, for a person; undefined: it is on, and leaves the path out. */
  readonly missing: string | undefined;
}

export const FEATURE_DOWN = errorReply("FEATURE_DOWN");

/** What is answered where no route is. A feature that is on and failed is down, not missing. */
export function absentReply({ feature, missing }: FeaturePath, isUp: (feature: string) => boolean): () => Reply {
  const absent = missing === undefined ? errorReply("NOT_FOUND") : errorReply("NOT_CONFIGURED", { message: missing });
  return () => (isUp(feature) ? absent : FEATURE_DOWN);
}
