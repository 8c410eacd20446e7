/**
 * The ways in of the mode "events": three addresses that an app names, each of which takes whatever comes to any of them.
 * https://docs.slack.dev/apis/events-api/using-http-request-urls
 */
import { type Ingress, type IngressReply, type Json, type Parsed, type RawRequest } from "@svc/contract";
import { readJson } from "@svc/kit";
import { fieldsOf, wordOf } from "../fields.ts";
import { inboundOf } from "../inbound/payload.ts";
import type { Told } from "../inbound/told.ts";
import { sampleDelivery } from "./sample.ts";
import { verified } from "./signature.ts";

export const EVENTS_PATH = "/slack/events";
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
  // What is answered to a press or a command would be shown to who made it.
  return { inbound: inbound === undefined ? [] : [inbound], ...(isForm && { reply: plain("") }) };
}

/** A press comes as JSON in a form, a command as the form. */
function formPayload(body: Uint8Array): Json {
  const form = new URLSearchParams(Buffer.from(body).toString("utf8"));
  const payload = form.get("payload");
  return payload === null ? Object.fromEntries(form) : readJson(Buffer.from(payload));
}

const plain = (body: string): IngressReply => ({ status: 200, contentType: "text/plain; charset=utf-8", body });
