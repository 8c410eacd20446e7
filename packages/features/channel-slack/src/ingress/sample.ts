/** A delivery as the platform would make it: for `svc webhook send`. */
import type { SampleDelivery, SampleMessage } from "@svc/contract";
import { hash } from "node:crypto";
import { userId } from "../ids.ts";
import { escaped } from "../markdown/escape.ts";
import { signatureHeaders } from "./signature.ts";

/** Nobody's. */
const ANYBODY = "U0000000000";

export function sampleDelivery(
  { text, from, id, atMs }: SampleMessage,
  secret: string,
  allowed: readonly string[],
): SampleDelivery {
  const user = from ?? allowed.find((entry) => userId(entry) !== undefined) ?? ANYBODY;
  const ts = `${Math.floor(atMs / 1000)}.${fractionOf(id)}`;
  const event = {
    type: "message",
    user,
    text: escaped(text),
    ts,
    event_ts: ts,
    // The messages of one person are one conversation.
    channel: `D${user.slice(1)}`,
    channel_type: "im",
  };
  const payload = {
    type: "event_callback",
    team_id: "T0000000000",
    api_app_id: "A0000000000",
    event,
    event_id: `Ev${fractionOf(id)}`,
    event_time: Math.floor(atMs / 1000),
  };
  const body = Buffer.from(JSON.stringify(payload));
  const headers = { "content-type": "application/json", ...signatureHeaders(secret, body, atMs) };
  return { method: "POST", query: "", headers, body };
}

/** Tells messages of one second apart, as the platform's six digits do. */
const fractionOf = (id: string): string =>
  String(Number.parseInt(hash("sha256", id).slice(0, 8), 16) % 1_000_000).padStart(6, "0");
