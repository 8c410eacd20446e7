/** A webhook of a call: whose it is, and how far it has come. https://www.twilio.com/docs/voice/twiml#request-parameters */
import type { IngressReply, Json, Notice, RawRequest } from "@svc/contract";
import { fieldsOf } from "@svc/kit";
import { type Place, placeOf } from "./place.ts";
import { fieldOf, type Form, formOf, type Person, personOf } from "./protocol.ts";

export interface Webhook {
  readonly sid: string;
  /** The other side: who called us, or whom we called. */
  readonly person: Person;
  readonly isOutgoing: boolean;
  readonly place: Place;
  readonly nowMs: number;
  /** Of the form; blank ones are missing. */
  field(name: string): string | undefined;
}

export const CALL_SID = /^CA[0-9a-fA-F]{32}$/;

/** Undefined for a request without a call. */
export function webhookOf({ body, query, receivedAtMs: nowMs }: RawRequest): Webhook | undefined {
  const form: Form = formOf(body) ?? new Map();
  const field = (name: string): string | undefined => fieldOf(form, name);
  const sid = field("CallSid") ?? "";
  const isOutgoing = field("Direction")?.startsWith("outbound") === true;
  const person = personOf(field(isOutgoing ? "To" : "From"));
  if (!CALL_SID.test(sid) || !person) return undefined;
  return { sid, person, isOutgoing, place: placeOf(query, nowMs), nowMs, field };
}

export const twiml = (body: string): IngressReply => ({ status: 200, contentType: "text/xml; charset=utf-8", body });

/** Stored for an incoming call so that it is followed up: `Channel.onNotice`. */
export const began = (sid: string): Notice => ({ id: `began ${sid}`, lane: sid, body: { began: sid } });

/** The call that began; undefined for anything else. */
export function begunIn(body: Json): string | undefined {
  const { began: sid } = fieldsOf(body);
  return typeof sid === "string" && CALL_SID.test(sid) ? sid : undefined;
}
