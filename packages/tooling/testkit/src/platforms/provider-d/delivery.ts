/** A delivery as the server posts it: once, with five seconds to be answered in, under a random of its own. */
import type { Json, SampleDelivery } from "@svc/contract";
import { createHmac, randomBytes } from "node:crypto";

export interface ProviderDMessage {
  readonly id: string;
  readonly room: string;
  /** User id of who wrote. */
  readonly from: string;
  readonly text: string;
  /** Rich objects by placeholder. */
  readonly parameters?: Readonly<Record<string, Json>>;
}

/** A new random each time: the same message may be posted again, the same request may not. */
export const providerDDelivery = (message: ProviderDMessage, secret: string | undefined): SampleDelivery =>
  providerDActivity(activityOf(message), secret);

/** Any payload, or any bytes, signed. */
export function providerDActivity(payload: Json | Uint8Array, secret: string | undefined): SampleDelivery {
  const body = payload instanceof Uint8Array ? payload : Buffer.from(JSON.stringify(payload));
  const random = randomBytes(48).toString("base64");
  const headers = { "content-type": "application/json", "ocs-apirequest": "true" };
  if (secret === undefined) return { method: "POST", query: "", headers, body };
  const signature = createHmac("sha256", secret).update(random).update(body).digest("hex");
  const signed = { "x-provider-d-random": random, "x-provider-d-signature": signature };
  return { method: "POST", query: "", headers: { ...headers, ...signed }, body };
}

const activityOf = ({ id, room, from, text, parameters }: ProviderDMessage): Json => ({
  type: "Create",
  actor: { type: "Person", id: `users/${from}`, name: from, talkParticipantType: "3" },
  object: {
    type: "Note",
    id,
    name: "message",
    // PHP writes an empty object as an empty list.
    content: JSON.stringify({ message: text, parameters: parameters ?? [] }),
    mediaType: "text/markdown",
  },
  target: { type: "Collection", id: room, name: "Room" },
});
