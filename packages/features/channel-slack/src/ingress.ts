/**
 * Ingress of the mode "events": an app names three URLs; each accepts the deliveries of all three.
 * https://docs.slack.dev/apis/events-api/using-http-request-urls
 */
import type {
  Ingress,
  IngressReply,
  Json,
  Parsed,
  RawRequest,
  SampleDelivery,
  SampleMessage,
  Verdict,
} from "@svc/contract";
import { hmacSha256Hex, readJson, verifyHmacSha256 } from "@svc/kit";
import { hash } from "node:crypto";
import { inboundOf, type Told } from "./events.ts";
import { escaped } from "./markdown.ts";
import { fieldsOf, userId, wordOf, EVENTS_PATH } from "./protocol.ts";

const PATHS = [EVENTS_PATH, "/slack/actions", "/slack/commands"];

export const ingressesOf = (secret: string, allowed: readonly string[], told: Told): Ingress[] =>
  PATHS.map((path) => ({
    path,
    methods: ["POST"],
    signed: true,
    verify: (request) => verified(request, secret),
    parse: (request) => parsed(request, told),
    ...(path === EVENTS_PATH && { sample: (message) => sampleDelivery(message, secret, allowed) }),
  }));

function parsed(request: RawRequest, told: Told): Parsed {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "");
  const payload = isForm ? formPayload(request.body) : readJson(request.body);
  const { type, challenge } = fieldsOf(payload);
  const word = type === "url_verification" ? wordOf(challenge) : undefined;
  if (word !== undefined) return { reply: plain(word) };
  const inbound = inboundOf(payload, told);
  // The platform would show a body to the person who pressed or typed the command.
  return { inbound: inbound === undefined ? [] : [inbound], ...(isForm && { reply: plain("") }) };
}

/** A press comes as JSON in a form, a command as the form. */
function formPayload(body: Uint8Array): Json {
  const form = new URLSearchParams(Buffer.from(body).toString("utf8"));
  const payload = form.get("payload");
  return payload === null ? Object.fromEntries(form) : readJson(Buffer.from(payload));
}

const plain = (body: string): IngressReply => ({ status: 200, contentType: "text/plain; charset=utf-8", body });

// https://docs.slack.dev/authentication/verifying-requests-from-slack

/** A delivery that someone recorded is worth nothing after this time. */
const TOLERANCE_MS = 300_000;
const VERSION = "v0";

function verified({ headers, body, receivedAtMs }: RawRequest, secret: string): Verdict {
  const timestamp = headers["x-slack-request-timestamp"] ?? "";
  const isFresh = /^\d{1,12}$/.test(timestamp) && Math.abs(receivedAtMs - Number(timestamp) * 1000) <= TOLERANCE_MS;
  if (!isFresh) return refused("X-Slack-Request-Timestamp is missing, or too far off");
  const [, hex] = /^v0=([0-9a-f]{64})$/.exec(headers["x-slack-signature"] ?? "") ?? [];
  const isRight = verifyHmacSha256({ secret, parts: signedParts(timestamp, body), header: hex, prefix: "optional" });
  return isRight ? { ok: true } : refused("X-Slack-Signature is missing, or does not fit the body");
}

const refused = (why: string): Verdict => ({ ok: false, code: "BAD_SIGNATURE", why });

const signedParts = (timestamp: string, body: Uint8Array): (string | Uint8Array)[] => [
  `${VERSION}:${timestamp}:`,
  body,
];

/** As the platform signs. */
function signatureHeaders(secret: string, body: Uint8Array, atMs: number): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  return {
    "x-slack-request-timestamp": timestamp,
    "x-slack-signature": `${VERSION}=${hmacSha256Hex(secret, signedParts(timestamp, body))}`,
  };
}

// A delivery as the platform would make it: for `svc webhook send`.

/** No one's. */
const ANYBODY = "U0000000000";

function sampleDelivery(
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
