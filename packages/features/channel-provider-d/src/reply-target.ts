/** Stored with a message so that its answer is shown, and threaded, as a reply to it. */
import type { Json } from "@svc/contract";
import * as v from "valibot";

export const replyDataOf = (messageId: number | undefined): Json | undefined =>
  messageId === undefined ? undefined : { replyTo: messageId };

export function replyTargetOf(data: Json | undefined): number | undefined {
  const kept = v.safeParse(v.object({ replyTo: v.pipe(v.number(), v.safeInteger(), v.minValue(1)) }), data);
  return kept.success ? kept.output.replyTo : undefined;
}
