/** What is answered to a webhook; to the same once more the same, so that nothing is said twice, or never. */
import { type Call } from "../calls/call.ts";
import type { IngressParts } from "./parts.ts";
import type { Webhook } from "./webhook.ts";

export function answerOnce(
  { dialogue, documents }: Pick<IngressParts, "dialogue" | "documents">,
  call: Call,
  { place, nowMs }: Webhook,
  { path, answer }: { readonly path: string; readonly answer: () => string },
): string {
  const at = `${path} ${place.step}`;
  const told = call.documentOf(at);
  if (told !== undefined) return told;
  if (call.over !== undefined) return documents.ending(undefined);
  if (!call.cameTo(place, nowMs)) return dialogue.late(call, nowMs);
  const document = answer();
  call.toldAt(at, document);
  return document;
}
