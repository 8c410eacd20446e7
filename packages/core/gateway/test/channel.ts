/** A channel whose platform signs what it sends, as small as one can be, and deliveries of that platform. */
import { createHmac } from "node:crypto";
import { type Ingress, type Parsed, type RawRequest, SvcError } from "@svc/contract";
import type { RegisteredIngress } from "@svc/runtime";
import { parseJson } from "@svc/kit";
import type { Call } from "./http.ts";

export const PATH = "/provider-a";
export const FEATURE = "channel-provider-a";
const SECRET = "s3cret-of-a";

/** Of a message, the fields that a test needs. */
export interface Sent {
  readonly id?: string;
  readonly from?: string;
  readonly text?: string;
  readonly at?: number;
  /** Used once. */
  readonly once?: string;
}

export const sign = (body: string | Buffer, secret = SECRET): string =>
  createHmac("sha256", secret).update(body).digest("hex");

export function channelWith(
  changed: Partial<Ingress> = {},
  owner: Partial<RegisteredIngress> = {},
  secret = SECRET,
): RegisteredIngress {
  const ingress: Ingress = {
    path: PATH,
    methods: ["GET", "POST"],
    signed: true,
    verify: (request) => verify(request, secret),
    parse,
    ...changed,
  };
  return { feature: FEATURE, channel: "provider_a", ingress, ...owner };
}

/** What its platform posts; signed, unless the headers say otherwise. */
export function delivery(sent: Sent | string | Buffer = { text: "hi" }, changed: Call = {}): Call {
  const body = typeof sent === "string" || Buffer.isBuffer(sent) ? sent : JSON.stringify(sent);
  const once: Record<string, string> =
    typeof sent === "object" && "once" in sent && sent.once !== undefined ? { "x-once": sent.once } : {};
  const headers = { host: "evil.example", "x-signature": sign(body), ...once, ...changed.headers };
  return { method: "POST", path: PATH, body, ...changed, headers };
}

function verify({ method, query, headers, body }: RawRequest, secret: string): ReturnType<Ingress["verify"]> {
  if (method === "GET") {
    const why = "the verify token is wrong";
    return query.get("token") === "t0ken" ? { ok: true } : { ok: false, code: "BAD_VERIFY_TOKEN", why };
  }
  if (headers["x-signature"] !== sign(Buffer.from(body), secret)) {
    return { ok: false, code: "BAD_SIGNATURE", why: "the signature is missing or wrong" };
  }
  return { ok: true, ...(headers["x-once"] !== undefined && { once: headers["x-once"] }) };
}

function parse({ method, query, body }: RawRequest): Parsed {
  if (method === "GET") {
    const challenge = query.get("challenge");
    if (challenge === null) throw new SvcError("BAD_REQUEST", "The challenge is missing.");
    return { reply: { status: 200, contentType: "text/plain; charset=utf-8", body: challenge } };
  }
  const sent = parseJson(body);
  if (sent === undefined) throw new SvcError("BAD_JSON");
  const { id, from = "+4911", text, at } = sent as Sent;
  if (typeof text !== "string") return {};
  return {
    inbound: [
      {
        ...(id !== undefined && { id }),
        conversation: { channel: "provider_a", id: from },
        sender: from,
        text,
        ...(at !== undefined && { sentAtMs: at }),
      },
    ],
  };
}
