/**
 * How far a call has come. The URLs that the platform requests next contain it, and the platform signs them: after a restart, or
 * after a lost answer, they say what the caller has heard.
 */
import type { IngressReply, Json, Notice, RawRequest } from "@svc/contract";
import { fieldsOf } from "@svc/kit";
import { type Form, type Person, fieldOf, formOf, personOf } from "./protocol.ts";

/** The caller's progress in a call. */
export interface Progress {
  /** Counts the documents of the call: a webhook with an older one came late. */
  readonly step: number;
  /** Number of the caller's next utterance, from 1 on. */
  readonly turn: number;
  /** Tag of the last utterance to the caller; undefined: only the greeting. */
  readonly said: string | undefined;
  /** How often the caller was asked to wait for a pending answer; undefined: no answer is pending. */
  readonly hold: number | undefined;
  /** How often in a row the caller was silent. */
  readonly quiet: number;
  /** Milliseconds since the epoch. */
  readonly beganMs: number;
  /** When this was written into the URL, milliseconds since the epoch. */
  readonly atMs: number;
  /** The question that a key press answers. */
  readonly ask: Asked | undefined;
}

export interface Asked {
  /** `Prompt.id`. */
  readonly prompt: string;
  /** Labels. */
  readonly approve: string;
  readonly reject: string;
}

export const initialProgress = (nowMs: number): Progress => ({
  step: 1,
  turn: 1,
  said: undefined,
  hold: undefined,
  quiet: 0,
  beganMs: nowMs,
  atMs: nowMs,
  ask: undefined,
});

/** The progress at the next document. */
export const nextProgress = (
  progress: Progress,
  nowMs: number,
  change: Partial<Omit<Progress, "step" | "beganMs" | "atMs">> = {},
): Progress => ({ ...progress, ask: undefined, ...change, step: progress.step + 1, atMs: nowMs });

/** Begins with `?`. */
export function queryOf({ step, turn, said, hold, quiet, beganMs, atMs, ask }: Progress): string {
  const query = new URLSearchParams({
    step: String(step),
    turn: String(turn),
    began: String(beganMs),
    at: String(atMs),
  });
  if (said !== undefined) query.set("said", said);
  if (hold !== undefined) query.set("hold", String(hold));
  if (quiet > 0) query.set("quiet", String(quiet));
  if (ask) {
    query.set("ask", ask.prompt);
    query.set("yes", ask.approve);
    query.set("no", ask.reject);
  }
  return `?${query}`;
}

/** Missing or invalid values get their initial value, so that the call continues. */
export function progressOf(query: URLSearchParams, nowMs: number): Progress {
  const number = (name: string): number | undefined => {
    const text = query.get(name) ?? "";
    return /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const said = query.get("said") ?? "";
  return {
    step: number("step") ?? 1,
    turn: number("turn") ?? 1,
    said: /^[0-9a-f]{16}$/.test(said) ? said : undefined,
    hold: number("hold"),
    quiet: number("quiet") ?? 0,
    beganMs: number("began") ?? nowMs,
    atMs: number("at") ?? nowMs,
    ask: askedOf(query),
  };
}

function askedOf(query: URLSearchParams): Asked | undefined {
  const [prompt = "", approve = "", reject = ""] = ["ask", "yes", "no"].map((name) => query.get(name) ?? "");
  const isWhole = /^[a-z0-9-]{1,32}$/.test(prompt) && approve.trim() !== "" && reject.trim() !== "";
  return isWhole ? { prompt, approve, reject } : undefined;
}

// A webhook of a call: the other party, and the progress. https://www.twilio.com/docs/voice/twiml#request-parameters

export interface Webhook {
  readonly sid: string;
  /** The other party: the caller, or the person called. */
  readonly person: Person;
  readonly isOutgoing: boolean;
  readonly progress: Progress;
  readonly nowMs: number;
  /** A field of the form; undefined for a blank one. */
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
  return { sid, person, isOutgoing, progress: progressOf(query, nowMs), nowMs, field };
}

export const twiml = (body: string): IngressReply => ({ status: 200, contentType: "text/xml; charset=utf-8", body });

/** Stored for an incoming call, so that `Channel.onNotice` follows it up. */
export const began = (sid: string): Notice => ({ id: `began ${sid}`, queue: sid, body: { began: sid } });

/** The call that began; undefined for anything else. */
export function begunIn(body: Json): string | undefined {
  const { began: sid } = fieldsOf(body);
  return typeof sid === "string" && CALL_SID.test(sid) ? sid : undefined;
}
