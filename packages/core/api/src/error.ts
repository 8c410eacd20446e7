/** The body of every error. */
import { integer } from "@svc/contract";
import * as v from "valibot";
import type { Output } from "./schema.ts";

export const ErrorBody = v.object({
  error: v.pipe(v.string(), v.description("A sentence for a person.")),
  code: v.pipe(v.string(), v.description("Stable.")),
  retry_after: v.exactOptional(v.pipe(integer(1), v.description("Seconds after which trying again can succeed."))),
  by: v.exactOptional(v.pipe(v.string(), v.description("Of APPROVAL_RESOLVED: who answered."))),
  at: v.exactOptional(v.pipe(v.string(), v.isoTimestamp(), v.description("Of APPROVAL_RESOLVED: when; UTC."))),
});
export type ErrorBody = Output<typeof ErrorBody>;
