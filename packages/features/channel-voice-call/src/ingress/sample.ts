/** Words of a caller as the platform would post them, for `svc webhook send` and tests. */
import { createHash } from "node:crypto";
import type { SampleDelivery, SampleMessage } from "@svc/contract";
import { firstPlace, queryOf } from "../calls/place.ts";
import type { Config } from "../config.ts";
import { formOf } from "../platform/form.ts";
import { signatureOf } from "../platform/signature.ts";
import { PATHS } from "./paths.ts";

/** Numbers of this kind are nobody's. */
const ANYBODY = "+15550001111";

export function sampleSpeech(message: SampleMessage, config: Config, base: string): SampleDelivery {
  const { text, id, atMs, from = config.allowed_numbers.find((number) => number.trim() !== "*") ?? ANYBODY } = message;
  const query = queryOf(firstPlace(atMs));
  const body = Buffer.from(
    new URLSearchParams({
      AccountSid: config.account_sid,
      ApiVersion: "2010-04-01",
      CallSid: `CA${createHash("md5").update(id).digest("hex")}`,
      CallStatus: "in-progress",
      Confidence: "0.9",
      Direction: "inbound",
      From: from.replaceAll(/[\s().-]/g, ""),
      SpeechResult: text,
      To: config.from_number,
    }).toString(),
  );
  const signature = signatureOf(config.auth_token, `${base}${PATHS.speech}${query}`, formOf(body)!);
  return {
    method: "POST",
    query,
    headers: { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": signature },
    body,
  };
}
