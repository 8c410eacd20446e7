/** A webhook as Twilio posts it: a form, signed with the account's auth token over the URL and the fields. */
import { createHmac } from "node:crypto";
import type { SampleDelivery } from "@svc/contract";

export type VoiceFields = Readonly<Record<string, string>>;

/** `url`: as it was given to the platform, query and all. */
export function voiceSignature(authToken: string, url: string, fields: readonly (readonly [string, string])[]): string {
  const sorted = fields.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const signed = url + sorted.map(([name, value]) => name + value).join("");
  return createHmac("sha1", authToken).update(signed, "utf8").digest("base64");
}

export interface VoiceDeliveryTo {
  readonly authToken: string;
  /** Where this service is reached, without a path. */
  readonly base: string;
  readonly path: string;
  /** Begins with `?`, or is empty. */
  readonly query?: string;
}

export function voiceDelivery(to: VoiceDeliveryTo, fields: VoiceFields): SampleDelivery {
  return signedForm(to, Buffer.from(new URLSearchParams(fields).toString()));
}

/** Of any body, read as a form. */
export function signedForm({ authToken, base, path, query = "" }: VoiceDeliveryTo, body: Uint8Array): SampleDelivery {
  const fields = [...new URLSearchParams(Buffer.from(body).toString("utf8"))];
  // One that comes twice is signed with its different values, in order.
  const once = [...new Map(fields.map((field) => [JSON.stringify(field), field])).values()];
  const ordered = once.toSorted(([, a], [, b]) => (a < b ? -1 : a > b ? 1 : 0));
  return {
    method: "POST",
    query,
    headers: {
      "content-type": "application/x-www-form-urlencoded; charset=UTF-8",
      "user-agent": "TwilioProxy/1.1",
      "x-twilio-signature": voiceSignature(authToken, `${base}${path}${query}`, ordered),
    },
    body,
  };
}
