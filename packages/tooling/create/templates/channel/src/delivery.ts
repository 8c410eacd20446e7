/** Incoming deliveries: signature, message, and a sample delivery to try the set-up. */
import type { Ingress, RawRequest, Verdict } from "@svc/contract";
import { hmacSha256Hex, readJson, verifyHmacSha256 } from "@svc/kit";
import * as v from "valibot";
import type { Config } from "./index.ts";

export function ingressOf(
  { signing_secret: secret, allowed_users: allowed }: Config,
  mayWrite: (user: string) => boolean,
): Ingress {
  return {
    path: "__path__",
    methods: ["POST"],
    signed: secret !== undefined,
    verify: (request) => (secret === undefined ? { ok: true } : verified(request, secret)),
    parse({ body }) {
      const { success, output } = v.safeParse(MESSAGE, readJson(body));
      if (!success || output.from_bot === true || !mayWrite(output.user)) return {};
      const { id, room, user, text, sent_at_ms: sentAtMs } = output;
      const conversation = { channel: "__channel__", id: room };
      return { inbound: [{ id, conversation, sender: user, text, ...(sentAtMs !== undefined && { sentAtMs }) }] };
    },
    sample({ text, from = allowed.find((user) => user !== "*") ?? "someone", id, atMs }) {
      const body = Buffer.from(JSON.stringify({ id, room: `room of ${from}`, user: from, text, sent_at_ms: atMs }));
      const timestamp = String(Math.floor(atMs / 1000));
      const signature = secret === undefined ? {} : { "x-signature": hmacSha256Hex(secret, [timestamp, ".", body]) };
      return { method: "POST", query: "", headers: { "x-timestamp": timestamp, ...signature }, body };
    },
  };
}

/** A recorded delivery can't be replayed after this time. */
const TOLERANCE_MS = 300_000;

function verified({ headers, body, receivedAtMs }: RawRequest, secret: string): Verdict {
  const timestamp = headers["x-timestamp"] ?? "";
  const isFresh = /^[0-9]{1,12}$/.test(timestamp) && Math.abs(receivedAtMs - Number(timestamp) * 1000) <= TOLERANCE_MS;
  if (!isFresh) return { ok: false, code: "BAD_SIGNATURE", why: "the timestamp is missing, or too far off" };
  const parts = [timestamp, ".", body];
  if (verifyHmacSha256({ secret, parts, header: headers["x-signature"], prefix: "optional" })) return { ok: true };
  return { ok: false, code: "BAD_SIGNATURE", why: "the signature does not fit the secret" };
}

/** An id, a room or a user of the platform. The platform sends no longer ones. */
const word = v.pipe(v.string(), v.trim(), v.nonEmpty(), v.maxLength(200));

const MESSAGE = v.object({
  id: word,
  room: word,
  user: word,
  text: v.pipe(
    v.string(),
    v.check((text) => text.trim() !== ""),
  ),
  // An undocumented value counts as missing, so that no message is lost.
  sent_at_ms: v.fallback(v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(8.64e15))), undefined),
  from_bot: v.fallback(v.optional(v.boolean()), undefined),
});
