/** `/Calls` of the REST API: placing, changing, listing. https://www.twilio.com/docs/voice/api/call-resource */
import type { FakeClock } from "../../fake-clock.ts";
import type { PlatformReply } from "../base.ts";
import { type CallResource, callJson, isOverStatus } from "./call-resource.ts";
import { VoiceError } from "./errors.ts";
import { type Exchange, type LiveCall } from "./exchange.ts";
import type { Next } from "./line-types.ts";
import { type VoiceForm, valueOf } from "./parameters.ts";
import { sidOf } from "./sid.ts";
import type { VoiceFields } from "./signed.ts";
import { parseTwiml, type TwimlNode } from "./twiml.ts";

export interface VoiceSent {
  readonly sid: string;
  readonly to: string;
  readonly text: string;
  readonly twiml: string;
}

export interface CallsOptions {
  readonly accountSid: string;
  /** The account's phone number. */
  readonly own: string;
  readonly clock: FakeClock;
  readonly exchange: Exchange;
  /** The person called answers, hears the request's words, and hangs up, before the request is answered. */
  readonly isInstant: boolean;
  /** Of the phone number. */
  readonly statusCallback: () => string | undefined;
}

export interface CallList {
  readonly sent: readonly VoiceSent[];
  create(form: VoiceForm): PlatformReply;
  update(live: LiveCall, form: VoiceForm): PlatformReply;
  list(query: URLSearchParams): PlatformReply;
  /** A person calls the number. */
  openIncoming(from: string, more: VoiceFields): LiveCall;
  /** The last with this number. */
  latest(number: string): LiveCall | undefined;
}

const E164 = /^\+[1-9][0-9]{6,14}$/;

export function createCalls({ accountSid, own, clock, exchange, isInstant, statusCallback }: CallsOptions): CallList {
  const sent: VoiceSent[] = [];
  const calls: LiveCall[] = [];

  const open = (
    call: Partial<CallResource> & Pick<CallResource, "to" | "from" | "direction">,
    more?: VoiceFields,
  ): LiveCall => {
    const fresh = { answeredMs: undefined, endedMs: undefined, statusCallbackEvents: [], timeLimitSecs: undefined };
    const status = call.direction === "inbound" ? "ringing" : "queued";
    const resource = {
      sid: sidOf("CA"),
      createdMs: clock.now(),
      status,
      statusCallback: undefined,
      ...fresh,
      ...call,
    } as const;
    const live = exchange.open({ ...resource }, more);
    calls.push(live);
    return live;
  };

  return {
    sent,
    create(form) {
      const [to = "", from = ""] = [valueOf(form, "To"), valueOf(form, "From")];
      const next = nextOf(form);
      if (!E164.test(to))
        throw new VoiceError(400, 21211, `The phone number you are attempting to call, ${to}, is not valid.`);
      if (from !== own)
        throw new VoiceError(400, 21210, `Source phone number ${from} is not yet verified for your account.`);
      if (!next) throw new VoiceError(400, 21205, "Url parameter is required");
      const callback = valueOf(form, "StatusCallback");
      const events = form.get("StatusCallbackEvent") ?? [];
      const live = open({
        to,
        from,
        direction: "outbound-api",
        statusCallback: callback,
        statusCallbackEvents: events,
      });
      const { call } = live;
      const twiml = valueOf(form, "Twiml");
      if (twiml !== undefined) sent.push({ sid: call.sid, to, text: saidIn(parseTwiml(twiml)), twiml });
      const reply = { status: 201, json: callJson(accountSid, call) };
      if (isInstant) {
        Object.assign(call, { status: "completed", answeredMs: clock.now(), endedMs: clock.now() });
        return reply;
      }
      live.ring(next, Number(valueOf(form, "Timeout") ?? 60));
      const limit = valueOf(form, "TimeLimit");
      if (limit !== undefined) live.limit(Number(limit));
      return reply;
    },
    update(live, form) {
      const { call } = live;
      const [next, status, limit] = [nextOf(form), valueOf(form, "Status"), valueOf(form, "TimeLimit")];
      if ((next && call.status !== "in-progress") || isOverStatus(call.status)) {
        throw new VoiceError(400, 21220, "Call is not in-progress. Cannot redirect.");
      }
      call.statusCallback = valueOf(form, "StatusCallback") ?? call.statusCallback;
      if (limit !== undefined) live.limit(Number(limit));
      if (next) live.update(next);
      if (status !== undefined) live.end();
      return { json: callJson(accountSid, call) };
    },
    list(query) {
      const [to, from, status] = ["To", "From", "Status"].map((name) => query.get(name));
      const size = Number(query.get("PageSize") ?? 50);
      const newest = calls
        .map(({ call }) => call)
        .filter(
          (call) => (!to || call.to === to) && (!from || call.from === from) && (!status || call.status === status),
        )
        .toReversed()
        .slice(0, size);
      return { json: { calls: newest.map((call) => callJson(accountSid, call)), page: 0, page_size: size } };
    },
    openIncoming: (from, more) => open({ to: own, from, direction: "inbound", statusCallback: statusCallback() }, more),
    latest: (number) => calls.findLast(({ call }) => call.to === number || call.from === number),
  };
}

function nextOf(form: VoiceForm): Next | undefined {
  const [url, twiml] = [valueOf(form, "Url"), valueOf(form, "Twiml")];
  if (twiml !== undefined) return { kind: "document", verbs: parseTwiml(twiml) };
  return url === undefined ? undefined : { kind: "fetch", url, fields: {} };
}

/** What is said in verbs, and in what is in them. */
const saidIn = (verbs: readonly TwimlNode[]): string =>
  verbs
    .flatMap((verb) => (verb.name === "Say" || verb.name === "Play" ? [verb.text] : [saidIn(verb.children)]))
    .filter((text) => text !== "")
    .join("\n");
