/** The public endpoints: a call begins, the caller speaks, the platform asks what comes next, a call ends. */
import {
  DEDUPE_MS,
  type DeliveryUpdate,
  type Inbound,
  type Ingress,
  type Logger,
  type Parsed,
  type RawRequest,
  type SampleDelivery,
  type SampleMessage,
  type Verdict,
  trimEndOf,
} from "@svc/contract";
import { createHash, createHmac } from "node:crypto";
import { type Call, type Calls, OVER } from "./calls.ts";
import type { Config } from "./config.ts";
import type { Dialogue } from "./dialogue.ts";
import { type Webhook, began, initialProgress, queryOf, twiml, webhookOf } from "./progress.ts";
import { CHANNEL, type Form, PATHS, formOf } from "./protocol.ts";
import type { AudioCache } from "./speaker.ts";
import type { Documents } from "./twiml.ts";
import { equalSecrets } from "@svc/kit";

/** `/voice-call`: someone calls. */
export function incomingCalls(deps: IngressDeps): Ingress {
  const { config, base, documents } = deps;
  return {
    path: PATHS.incoming,
    methods: ["POST"],
    signed: true,
    verify: signatureCheck(config.auth_token, base),
    parse(request) {
      const webhook = webhookOf(request);
      return webhook ? answered(deps, webhook) : { reply: twiml(documents.nothing) };
    },
  };
}

function answered(deps: IngressDeps, webhook: Webhook): Parsed {
  const { config, calls, dialogue, documents, letsIn, log } = deps;
  const { sid, person, nowMs } = webhook;
  if (!letsIn(person.id)) return { reply: twiml(documents.refusal) };
  if (config.verified_callers_only && !isVouchedFor(webhook.field("StirVerstat"))) {
    log.info("call refused: the caller's number is not verified", { call: sid });
    return { reply: twiml(documents.refusal) };
  }
  const call = calls.open({ sid, person, progress: initialProgress(nowMs), seenAtMs: nowMs });
  return { notices: [began(sid)], reply: twiml(dialogue.greeting(call, nowMs)) };
}

/** https://www.twilio.com/docs/voice/trusted-calling-with-shakenstir: A and B say that the caller may use the number. */
const isVouchedFor = (stir: string | undefined): boolean =>
  stir !== undefined && /^TN-Validation-Passed-[AB](?:-|$)/.test(stir);

/** `/voice-call/speech`: the caller has said something, or pressed a key. */
export function callersSpeech(deps: IngressDeps): Ingress {
  const { config, base, documents, letsIn } = deps;
  return {
    path: PATHS.speech,
    methods: ["POST"],
    signed: true,
    // What was said is in no webhook twice; an older one is a replay whose id was forgotten.
    maxAgeMs: DEDUPE_MS,
    verify: signatureCheck(config.auth_token, base),
    parse(request) {
      const webhook = webhookOf(request);
      if (!webhook) return { reply: twiml(documents.nothing) };
      // Whom we called, and who is not on the list, was asked nothing.
      if (!letsIn(webhook.person.id)) return { reply: twiml(documents.ending(undefined)) };
      return heardIn(deps, webhook);
    },
    ...(base !== undefined && { sample: (message) => sampleSpeech(message, config, base) }),
  };
}

function heardIn(deps: IngressDeps, webhook: Webhook): Parsed {
  const { calls, dialogue, config } = deps;
  const { sid, person, progress, nowMs } = webhook;
  const call = calls.open({ sid, person, progress, seenAtMs: nowMs });
  const heard = heardOf(webhook, config.recognizer);
  const answer = (): string => {
    if (!heard) return dialogue.goOn(call, nowMs);
    call.spoke(progress.turn);
    return dialogue.heard(call, nowMs);
  };
  const reply = twiml(answerOnce(deps, call, webhook, { path: PATHS.speech, answer }));
  return heard ? { inbound: [inboundOf(webhook, heard)], reply } : { reply };
}

/**
 * The conversation is the caller's and goes on in the next call; who hides the number has one for each call. The call itself
 * is where the answer goes to.
 */
function inboundOf(
  { sid, person, progress, field }: Webhook,
  heard: Pick<Inbound, "text" | "media" | "choice">,
): Inbound {
  const name = field("CallerName")?.slice(0, 100);
  return {
    id: `${sid}.${progress.turn}`,
    conversation: { channel: CHANNEL, id: person.id, ...(!person.isKnown && { thread: sid }) },
    sender: person.id,
    ...(name !== undefined && { senderName: name }),
    ...heard,
    sentAtMs: progress.atMs,
    replyData: { call: sid, turn: progress.turn },
  };
}

/** `/voice-call/next`: the platform has finished its document, and requests the next one. */
export function nextDocuments(deps: IngressDeps): Ingress {
  const { config, base, documents } = deps;
  return {
    path: PATHS.next,
    methods: ["POST"],
    signed: true,
    verify: signatureCheck(config.auth_token, base),
    parse(request) {
      const webhook = webhookOf(request);
      return { reply: twiml(webhook ? documentAfter(deps, webhook) : documents.nothing) };
    },
  };
}

function documentAfter(deps: IngressDeps, webhook: Webhook): string {
  const { calls, dialogue } = deps;
  const { sid, person, progress, nowMs } = webhook;
  const call = calls.open({ sid, person, progress, seenAtMs: nowMs });
  return answerOnce(deps, call, webhook, { path: PATHS.next, answer: () => dialogue.goOn(call, nowMs) });
}

/**
 * `/voice-call/status`: what became of a call. https://www.twilio.com/docs/voice/api/call-resource#statuscallback
 * Anyone who was called is a message of ours that was delivered, or was not.
 */
export function callStates(deps: IngressDeps): Ingress {
  const { config, base, documents } = deps;
  return {
    path: PATHS.status,
    methods: ["POST"],
    signed: true,
    verify: signatureCheck(config.auth_token, base),
    parse(request) {
      const webhook = webhookOf(request);
      const updates = webhook ? updatesOf(deps, webhook) : [];
      return { updates, reply: twiml(documents.nothing) } satisfies Parsed;
    },
  };
}

const UNDER_WAY: ReadonlyMap<string, DeliveryUpdate["status"]> = new Map([
  ["initiated", "sent"],
  ["queued", "sent"],
  ["ringing", "sent"],
  ["in-progress", "delivered"],
  ["completed", "delivered"],
]);

/** Sentences of ours. */
const FAILED: ReadonlyMap<string, string> = new Map([
  ["busy", "The line was busy."],
  ["no-answer", "The call was not answered."],
  ["failed", "The call could not be put through."],
  ["canceled", "The call was cancelled before an answer."],
]);

function updatesOf({ calls, log }: IngressDeps, webhook: Webhook): DeliveryUpdate[] {
  const { sid, isOutgoing, field, nowMs } = webhook;
  const status = field("CallStatus") ?? "";
  const reason = FAILED.get(status);
  const known = UNDER_WAY.get(status);
  if (reason === undefined && known === undefined) return [];
  const call = calls.get(sid);
  if (call) call.seenAtMs = nowMs;
  if (reason !== undefined || status === "completed") {
    // Before a document is asked for once more, so that nothing is said to no one.
    call?.end(reason ?? OVER, nowMs, reason === undefined);
    const secs = /^[0-9]{1,6}$/.exec(field("CallDuration") ?? "")?.[0];
    log.info("a call is over", { call: sid, how: status, secs, answeredBy: answeredBy(webhook) });
  }
  if (!isOutgoing) return [];
  return [{ platformId: sid, ...(reason === undefined ? { status: known! } : { status: "failed", reason }) }];
}

/** Where it was to be found out: a person, or a machine. */
const answeredBy = ({ field }: Webhook): string | undefined => /^[a-z_]{1,40}$/.exec(field("AnsweredBy") ?? "")?.[0];

/** `/voice-call/audio`: speech that the platform plays. Who knows the id was told it in a call. */
export function audioFiles(cache: AudioCache): Ingress {
  return {
    path: PATHS.audio,
    methods: ["GET"],
    signed: true,
    verify({ query, receivedAtMs }) {
      if (cache.get(query.get("id") ?? "", receivedAtMs)) return { ok: true };
      return { ok: false, code: "BAD_VERIFY_TOKEN", why: "there is no such audio, or not any more" };
    },
    parse({ query, receivedAtMs }) {
      const audio = cache.get(query.get("id") ?? "", receivedAtMs);
      return {
        reply: { status: 200, contentType: audio?.mimeType ?? "audio/mpeg", body: audio?.bytes ?? new Uint8Array() },
      };
    },
  };
}

/** Answers to webhooks. A repeated webhook gets the same answer, so that no text is said twice or lost. */
function answerOnce(
  { dialogue, documents }: Pick<IngressDeps, "dialogue" | "documents">,
  call: Call,
  { progress, nowMs }: Webhook,
  { path, answer }: { readonly path: string; readonly answer: () => string },
): string {
  const at = `${path} ${progress.step}`;
  const repeated = call.documentOf(at);
  if (repeated !== undefined) return repeated;
  if (call.over !== undefined) return documents.ending(undefined);
  if (!call.cameTo(progress, nowMs)) return dialogue.late(call, nowMs);
  const document = answer();
  call.toldAt(at, document);
  return document;
}

/**
 * What a caller said, as words, as a recording, or as a key. https://www.twilio.com/docs/voice/twiml/gather#action
 */
type Heard = Pick<Inbound, "text" | "media" | "choice">;

/** Undefined: nothing that could be answered. */
function heardOf({ progress, field }: Webhook, recognizer: Config["recognizer"]): Heard | undefined {
  const { ask } = progress;
  const key = field("Digits");
  if (ask && (key === "1" || key === "2")) {
    const approved = key === "1";
    return { text: approved ? ask.approve : ask.reject, choice: { prompt: ask.prompt, approved } };
  }
  const recording = field("RecordingSid") ?? "";
  if (recognizer === "transcription" && RECORDING_SID.test(recording)) return recorded(recording);
  const said = field("SpeechResult");
  return said === undefined ? undefined : { text: wordsOf(said) };
}

export const RECORDING_SID = /^RE[0-9a-fA-F]{32}$/;

const recorded = (ref: string): Heard => {
  const placeholder = "[audio]";
  return { text: placeholder, media: [{ kind: "audio", ref, placeholder, mimeType: "audio/mpeg" }] };
};

/**
 * Recognisers put marks where they like: "Yes." and "No, thanks." begin with yes and no to anyone who compares them with a keyword.
 */
function wordsOf(said: string): string {
  const words = said.replace(/^([\p{L}\p{N}]+)[.,!;:…。，！]+(?=\s|$)/u, "$1");
  return words.split(/\s+/).length > FEW_WORDS ? words : trimEndOf(words, ".!…。！");
}

const FEW_WORDS = 4;

// Words of a caller as the platform would post them, for `svc webhook send` and tests.

/** A number of the range for examples. */
const EXAMPLE_SENDER = "+15550001111";

function sampleSpeech(message: SampleMessage, config: Config, base: string): SampleDelivery {
  const {
    text,
    id,
    atMs,
    from = config.allowed_numbers.find((number) => number.trim() !== "*") ?? EXAMPLE_SENDER,
  } = message;
  const query = queryOf(initialProgress(atMs));
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

// Whether a webhook is the platform's.

/** `base`: the public URL of this service, which the signature covers; undefined: not configured. */
function signatureCheck(authToken: string, base: string | undefined): Ingress["verify"] {
  return ({ target, headers, body }: RawRequest): Verdict => {
    if (base === undefined) return refused("neither webhook_url nor gateway.public_url says what the platform calls");
    const header = headers[SIGNATURE_HEADER];
    if (header === undefined) return refused("X-Twilio-Signature is missing");
    const form = formOf(body);
    if (form === undefined) return refused("the body is no form of the platform's");
    if (isSigned(authToken, { url: base + target, form, header })) return { ok: true };
    return refused("X-Twilio-Signature does not fit: other auth_token, or webhook_url is not what the platform calls");
  };
}

const refused = (why: string): Verdict => ({ ok: false, code: "BAD_SIGNATURE", why });

/** What the ways in share. */
interface IngressDeps {
  readonly config: Config;
  /** Public URL of this service. */
  readonly base: string | undefined;
  readonly calls: Calls;
  readonly dialogue: Dialogue;
  readonly documents: Documents;
  /** Tells the log of who may not call, once each. */
  readonly letsIn: (caller: string) => boolean;
  readonly log: Logger;
}

/**
 * `X-Twilio-Signature`: base64 of the HMAC-SHA-1, by the auth token, of the URL as the platform called it and of each field of the form,
 * name and value, sorted by name. https://www.twilio.com/docs/usage/security#validating-requests
 */
const SIGNATURE_HEADER = "x-twilio-signature";

export function signatureOf(authToken: string, url: string, form: Form): string {
  const hmac = createHmac("sha1", authToken).update(url);
  for (const name of [...form.keys()].sort()) {
    // One that comes twice with the same value is signed once.
    for (const value of [...new Set(form.get(name))].sort()) hmac.update(name).update(value);
  }
  return hmac.digest("base64");
}

interface SignedRequest {
  readonly url: string;
  readonly form: Form;
  readonly header: string | undefined;
}

/** In a time that tells nothing. False, too, for a blank token: with it anyone could sign. */
export function isSigned(authToken: string, { url, form, header }: SignedRequest): boolean {
  if (authToken.trim() === "") return false;
  return portsOf(url).some((candidate) => equalSecrets(header, signatureOf(authToken, candidate, form)));
}

/** The platform signs some URLs with their port and some without, the standard one included. */
function portsOf(url: string): readonly string[] {
  const [, scheme, host, port, rest] = URL_PARTS.exec(url) ?? [];
  if (scheme === undefined || host === undefined || rest === undefined) return [url];
  const standard = scheme.toLowerCase() === "https://" ? ":443" : ":80";
  return [`${scheme}${host}${rest}`, `${scheme}${host}${port ?? standard}${rest}`];
}

/** Not by the URL class: it writes some characters otherwise than they were signed. */
const URL_PARTS = /^([a-z][a-z0-9+.-]*:\/\/)(\[[^\]]*\]|[^/?#:]*)(:[0-9]+)?(.*)$/is;
