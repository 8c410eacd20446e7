/** Calls under way: webhooks out, verbs in, and what is told of how each goes. */
import type { FakeClock } from "../../fake-clock.ts";
import { type CallResource, type CallStatus, durationSecs, isOverStatus } from "./call-resource.ts";
import { Line } from "./line.ts";
import type { Next } from "./line-types.ts";
import { phone, type VoicePhone } from "./phone.ts";
import { sidOf } from "./sid.ts";
import { type VoiceFields, voiceDelivery } from "./signed.ts";
import { parseTwiml } from "./twiml.ts";

export interface ExchangeOptions {
  readonly accountSid: string;
  readonly authToken: string;
  readonly clock: FakeClock;
  /** Where webhooks really go, by the URL that they are signed for. Default: there. */
  readonly routeTo: (url: string) => string;
  readonly warnings: string[];
  readonly recordings: Map<string, Uint8Array>;
}

export interface Exchange {
  /** Begins a call; what it does first is told later, by `begin`. */
  open(call: CallResource, more?: VoiceFields): LiveCall;
  find(sid: string): LiveCall | undefined;
}

export interface LiveCall {
  readonly call: CallResource;
  readonly phone: VoicePhone;
  /** The other end rings. `ringSecs`: as long. */
  ring(first: Next, ringSecs: number): void;
  /** It is answered at once. */
  begin(first: Next): void;
  update(next: Next): void;
  /** By the API. */
  end(): void;
  limit(secs: number): void;
}

export function createExchange(options: ExchangeOptions): Exchange {
  const { accountSid, authToken, clock, routeTo, warnings, recordings } = options;
  const live = new Map<string, LiveCall>();

  async function post(url: string, fields: VoiceFields): Promise<Response> {
    const { origin, pathname, search } = new URL(url);
    const to = { authToken, base: origin, path: pathname, query: search };
    const { headers, body } = voiceDelivery(to, fields);
    return fetch(routeTo(url), { method: "POST", headers, body: Buffer.from(body), redirect: "error" });
  }

  function open(call: CallResource, more: VoiceFields = {}): LiveCall {
    let telling: Promise<void> = Promise.resolve();
    let sequence = 0;
    let cancelLimit = (): void => {};
    let picked: ((how: "answers" | "busy") => void) | undefined;

    const fields = (): VoiceFields => ({
      AccountSid: accountSid,
      ApiVersion: "2010-04-01",
      CallSid: call.sid,
      CallStatus: call.status,
      Called: call.to,
      Caller: call.from,
      Direction: call.direction,
      From: call.from,
      To: call.to,
      ...more,
    });

    const isWanted = (event: string): boolean =>
      call.direction === "inbound" || call.statusCallbackEvents.length === 0
        ? event === "completed"
        : call.statusCallbackEvents.includes(event);

    /** One after the other, whatever becomes of it. */
    const tell = (event: string): void => {
      const url = call.statusCallback;
      if (url === undefined || !isWanted(event)) return;
      const progress = {
        ...fields(),
        CallbackSource: "call-progress-events",
        SequenceNumber: String(sequence++),
        Timestamp: new Date(clock.now()).toUTCString(),
        ...(call.endedMs !== undefined && { CallDuration: String(durationSecs(call)) }),
      };
      telling = telling.then(() =>
        post(url, progress).then(
          ({ status }) => void (status >= 300 && warnings.push(`11200: a status callback was answered ${status}`)),
          () => void warnings.push("11200: a status callback was not taken"),
        ),
      );
    };

    const become = (status: CallStatus, event: string): void => {
      if (isOverStatus(call.status)) return;
      call.status = status;
      if (status === "in-progress") call.answeredMs = clock.now();
      if (isOverStatus(status)) {
        call.endedMs = clock.now();
        cancelLimit();
      }
      tell(event);
    };

    const line = new Line({
      clock,
      async fetch(url, extra) {
        const response = await post(url, { ...fields(), ...extra });
        const type = response.headers.get("content-type") ?? "";
        if (response.status !== 200) throw new Error(`11200: ${new URL(url).pathname} was answered ${response.status}`);
        if (!/^(?:text|application)\/xml\b/.test(type)) throw new Error(`12300: ${type} is no TwiML`);
        const verbs = parseTwiml(await response.text());
        if (call.status === "ringing" && verbs[0]?.name !== "Reject") become("in-progress", "answered");
        return verbs;
      },
      async audio(url) {
        const response = await fetch(routeTo(url));
        const type = response.headers.get("content-type") ?? "";
        if (response.status !== 200) throw new Error(`11200: <Play> was answered ${response.status}`);
        if (!type.startsWith("audio/")) throw new Error(`13420: ${type} is no audio`);
        return response.bytes();
      },
      record(text) {
        const sid = sidOf("RE");
        recordings.set(sid, Buffer.from(text));
        const url = `https://api.twilio.com/2010-04-01/Accounts/${accountSid}/Recordings/${sid}`;
        return { RecordingSid: sid, RecordingUrl: url, RecordingDuration: "2" };
      },
      ended: () => become(call.status === "ringing" ? "busy" : "completed", "completed"),
      failed: (why) => void warnings.push(why),
    });

    const made: LiveCall = {
      call,
      phone: phone({ call, line, clock, picked: (how) => picked?.(how), told: () => telling }),
      begin(first) {
        void line.perform(first);
      },
      ring(first, ringSecs) {
        tell("initiated");
        become("ringing", "ringing");
        const cancel = clock.after(ringSecs * 1000, () => become("no-answer", "completed"));
        picked = (how) => {
          picked = undefined;
          cancel();
          if (how === "busy") return become("busy", "completed");
          become("in-progress", "answered");
          void line.perform(first);
        };
      },
      update: (next) => line.tell({ kind: "update", next }),
      end() {
        if (call.status === "in-progress") line.tell({ kind: "hangup" });
        else become("canceled", "completed");
      },
      limit(secs) {
        cancelLimit();
        call.timeLimitSecs = secs;
        const leftMs = (call.answeredMs ?? clock.now()) + secs * 1000 - clock.now();
        cancelLimit = clock.after(leftMs, () => line.tell({ kind: "hangup" }));
      },
    };
    live.set(call.sid, made);
    return made;
  }

  return { open, find: (sid) => live.get(sid) };
}
