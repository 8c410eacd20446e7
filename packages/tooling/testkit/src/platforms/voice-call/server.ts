/**
 * Twilio's programmable voice as its documents say: the REST API 2010-04-01 for calls, phone numbers and recordings; signed
 * webhooks; TwiML that is carried out on a clock. https://www.twilio.com/docs/voice/api
 */
import type { Json } from "@svc/contract";
import { type FakeClock, fakeClock } from "../../fake-clock.ts";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { type CallResource, callJson, isOverStatus } from "./call-resource.ts";
import { errorReply, notFound, VoiceError } from "./errors.ts";
import { createExchange, documentOf, type LiveCall, saidIn, sidOf } from "./exchange.ts";
import { CREATE, NUMBER, type ParameterRules, parametersOf, UPDATE, valueOf, type VoiceForm } from "./parameters.ts";
import type { Next } from "./line.ts";
import type { VoicePhone } from "./phone.ts";
import type { VoiceFields } from "./signed.ts";
import { parseTwiml } from "./twiml.ts";

export interface VoicePlatformOptions {
  readonly accountSid: string;
  readonly authToken: string;
  /** The account's phone number. */
  readonly number: string;
  readonly clock?: FakeClock;
  /**
   * `instant`: whoever is called answers, hears what the request says, and hangs up, all before it is answered; no webhook is
   * posted. `by clock`: phones ring until `VoicePhone.answers`. Default: by clock.
   */
  readonly pace?: "instant" | "by clock";
  /** Where webhooks really go, by the URL that they are signed for. Default: there. */
  readonly routeTo?: (url: string) => string;
}

export interface VoiceSent {
  readonly sid: string;
  readonly to: string;
  readonly text: string;
  readonly twiml: string;
}

export interface VoicePlatform extends FakePlatform {
  readonly clock: FakeClock;
  /** What the phone number calls. */
  readonly number: { voiceUrl: string; statusCallback: string | undefined };
  /** Calls that were placed by request, oldest first, with the words that the request says. */
  readonly sent: readonly VoiceSent[];
  /** What the platform would show in its debugger: webhooks that failed, documents it can't use. */
  readonly warnings: readonly string[];
  /** By SID. */
  readonly recordings: Map<string, Uint8Array>;
  /** Recordings that are announced, and not there yet. */
  readonly unfinished: Set<string>;
  /** Recordings that lead elsewhere. */
  readonly moved: Map<string, string>;
  /** Somebody calls the number. `more`: further fields of its webhooks. */
  ring(from: string, more?: VoiceFields): Promise<VoicePhone>;
  /** The phone of who was called last with this number. */
  phoneOf(number: string): VoicePhone;
  /** The next requests to place or change a call fail with these errors, one each. */
  failNext(...errors: readonly (readonly [status: number, code: number])[]): void;
}

export async function startVoicePlatform(options: VoicePlatformOptions): Promise<VoicePlatform> {
  const { accountSid, authToken, number: own, clock = fakeClock(), pace = "by clock" } = options;
  const { routeTo = (url) => url } = options;
  const [warnings, sent, failures]: [string[], VoiceSent[], (readonly [number, number])[]] = [[], [], []];
  const recordings = new Map<string, Uint8Array>();
  const [unfinished, moved] = [new Set<string>(), new Map<string, string>()];
  const number = { voiceUrl: "", statusCallback: undefined as string | undefined };
  const numberSid = sidOf("PN");
  const exchange = createExchange({ accountSid, authToken, clock, routeTo, warnings, recordings });
  const calls: LiveCall[] = [];
  const root = `/2010-04-01/Accounts/${accountSid}`;

  const resource = (to: string, from: string, direction: CallResource["direction"]): CallResource => ({
    sid: sidOf("CA"),
    to,
    from,
    direction,
    createdMs: clock.now(),
    status: direction === "inbound" ? "ringing" : "queued",
    answeredMs: undefined,
    endedMs: undefined,
    statusCallback: direction === "inbound" ? number.statusCallback : undefined,
    statusCallbackEvents: [],
    timeLimitSecs: undefined,
  });

  const open = (call: CallResource, more?: VoiceFields): LiveCall => {
    const live = exchange.open(call, more);
    calls.push(live);
    return live;
  };

  function create(form: VoiceForm): PlatformReply {
    const [to = "", from = ""] = [valueOf(form, "To"), valueOf(form, "From")];
    if (!E164.test(to))
      throw new VoiceError(400, 21211, `The phone number you are attempting to call, ${to}, is not valid.`);
    if (from !== own)
      throw new VoiceError(400, 21210, `Source phone number ${from} is not yet verified for your account.`);
    const next = nextOf(form);
    if (!next) throw new VoiceError(400, 21205, "Url parameter is required");
    const call = resource(to, from, "outbound-api");
    call.statusCallback = valueOf(form, "StatusCallback");
    call.statusCallbackEvents = form.get("StatusCallbackEvent") ?? [];
    const twiml = valueOf(form, "Twiml") ?? "";
    if (twiml !== "") sent.push({ sid: call.sid, to, text: saidIn(parseTwiml(twiml)), twiml });
    const live = open(call);
    if (pace === "instant") Object.assign(call, { status: "completed", answeredMs: clock.now(), endedMs: clock.now() });
    const reply = { status: 201, json: callJson(accountSid, { ...call, status: "queued", endedMs: undefined }) };
    if (pace === "instant") return reply;
    live.ring(next, Number(valueOf(form, "Timeout") ?? 60));
    const limit = valueOf(form, "TimeLimit");
    if (limit !== undefined) live.limit(Number(limit));
    return reply;
  }

  function update(live: LiveCall, form: VoiceForm): PlatformReply {
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
  }

  function list({ query }: PlatformRequest): PlatformReply {
    const [to, from, status] = ["To", "From", "Status"].map((name) => query.get(name));
    const found = calls
      .map(({ call }) => call)
      .filter(
        (call) => (!to || call.to === to) && (!from || call.from === from) && (!status || call.status === status),
      );
    const size = Number(query.get("PageSize") ?? 50);
    const newest = found.toReversed().slice(0, size);
    return { json: { calls: newest.map((call) => callJson(accountSid, call)), page: 0, page_size: size } };
  }

  const account = (): PlatformReply => ({
    json: {
      sid: accountSid,
      friendly_name: "Lucky Shrub",
      status: "active",
      type: "Full",
      owner_account_sid: accountSid,
    },
  });

  const numberJson = (): Json => ({
    sid: numberSid,
    account_sid: accountSid,
    phone_number: own,
    friendly_name: own,
    voice_url: number.voiceUrl,
    voice_method: "POST",
    status_callback: number.statusCallback ?? "",
  });

  const numbers = ({ query }: PlatformRequest): PlatformReply => {
    const wanted = query.get("PhoneNumber") ?? "";
    return { json: { incoming_phone_numbers: own.includes(wanted) ? [numberJson()] : [], page: 0 } };
  };

  function setNumber(form: VoiceForm): PlatformReply {
    number.voiceUrl = valueOf(form, "VoiceUrl") ?? number.voiceUrl;
    number.statusCallback = valueOf(form, "StatusCallback") ?? number.statusCallback;
    return { json: numberJson() };
  }

  function recording(file: string): PlatformReply {
    const [sid = "", extension] = file.split(".");
    const target = moved.get(sid);
    if (target !== undefined) return { status: 302, headers: { location: target } };
    const bytes = recordings.get(sid);
    if (!bytes) throw notFound(file);
    const status = unfinished.has(sid) ? "processing" : "completed";
    if (extension === "json") return { json: { sid, account_sid: accountSid, status, duration: "2" } };
    if (status === "processing") throw notFound(file);
    return { headers: { "content-type": extension === "mp3" ? "audio/mpeg" : "audio/x-wav" }, bytes };
  }

  function acted(
    request: PlatformRequest,
    rules: ParameterRules,
    act: (form: VoiceForm) => PlatformReply,
  ): PlatformReply {
    const failure = failures.shift();
    if (failure) throw new VoiceError(failure[0], failure[1], "As the test wants it.");
    return act(parametersOf(request, rules));
  }

  function route(request: PlatformRequest): PlatformReply {
    const { method, path, headers } = request;
    const credentials = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`;
    if (headers["authorization"] !== credentials) throw new VoiceError(401, 20003, "Authenticate");
    if (method === "GET" && path === `${root}.json`) return account();
    const [, collection = "", item] =
      /^\/([A-Za-z]+?)(?:\/([A-Za-z0-9.]+))?(?:\.json)?$/.exec(path.slice(root.length)) ?? [];
    const sid = item?.replace(/\.json$/, "");
    if (!path.startsWith(`${root}/`)) throw notFound(path);
    if (collection === "Recordings" && item !== undefined && method === "GET")
      return recording(path.split("/").at(-1)!);
    if (collection === "IncomingPhoneNumbers") {
      if (method === "GET" && sid === undefined) return numbers(request);
      if (method === "POST" && sid === numberSid) return setNumber(parametersOf(request, NUMBER));
    }
    if (collection !== "Calls") throw notFound(path);
    if (sid === undefined) return method === "GET" ? list(request) : acted(request, CREATE, create);
    const live = exchange.find(sid);
    if (!live) throw notFound(path);
    if (method === "GET") return { json: callJson(accountSid, live.call) };
    return acted(request, UPDATE, (form) => update(live, form));
  }

  const base = await startPlatform((request) => {
    try {
      return route(request);
    } catch (error) {
      if (error instanceof VoiceError) return errorReply(error);
      throw error;
    }
  });
  return Object.assign(base, {
    clock,
    number,
    sent,
    warnings,
    recordings,
    unfinished,
    moved,
    failNext: (...errors: readonly (readonly [number, number])[]) => void failures.push(...errors),
    async ring(from: string, more: VoiceFields = {}) {
      const live = open(resource(own, from, "inbound"), more);
      live.begin({ kind: "fetch", url: number.voiceUrl, fields: {} });
      // What the caller hears first has begun.
      await live.phone.waits(1);
      return live.phone;
    },
    phoneOf(to: string) {
      const live = calls.findLast(({ call }) => call.to === to);
      if (!live) throw new Error("nobody was called there");
      return live.phone;
    },
  });
}

const E164 = /^\+[1-9][0-9]{6,14}$/;

function nextOf(form: VoiceForm): Next | undefined {
  const [url, twiml] = [valueOf(form, "Url"), valueOf(form, "Twiml")];
  if (twiml !== undefined) return documentOf(twiml);
  return url === undefined ? undefined : { kind: "fetch", url, fields: {} };
}
