/**
 * Twilio's programmable voice as its documents say: the REST API 2010-04-01 for calls, phone numbers and recordings; signed
 * webhooks; TwiML that is carried out on a clock. https://www.twilio.com/docs/voice/api
 */
import { type FakeClock, fakeClock } from "../../fake-clock.ts";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { createAccount, type VoiceAccount } from "./account.ts";
import { callJson } from "./call-resource.ts";
import { createCalls, type VoiceSent } from "./calls.ts";
import { errorReply, notFound, VoiceError } from "./errors.ts";
import { createExchange } from "./exchange.ts";
import { CREATE, NUMBER, type ParameterRules, parametersOf, UPDATE, type VoiceForm } from "./parameters.ts";
import type { VoicePhone } from "./phone.ts";
import type { VoiceFields } from "./signed.ts";

export interface VoicePlatformOptions {
  readonly accountSid: string;
  readonly authToken: string;
  /** The account's phone number. */
  readonly number: string;
  readonly clock?: FakeClock;
  /**
   * `instant`: the person called answers, hears the request's words, and hangs up before the request is answered; no webhook is
   * posted. `by clock`: phones ring until `VoicePhone.answers`. Default: by clock.
   */
  readonly pace?: "instant" | "by clock";
  /** Where webhooks really go, by the URL that they are signed for. Default: there. */
  readonly routeTo?: (url: string) => string;
}

export interface VoicePlatform
  extends FakePlatform, Pick<VoiceAccount, "number" | "recordings" | "unfinished" | "moved"> {
  readonly clock: FakeClock;
  /** Calls that were placed by request, oldest first, with the words that the request says. */
  readonly sent: readonly VoiceSent[];
  /** What the platform would show in its debugger: webhooks that failed, documents it can't use. */
  readonly warnings: readonly string[];
  /** A person calls the number, and starts to hear the first words. `more`: further fields of the call's webhooks. */
  ring(from: string, more?: VoiceFields): Promise<VoicePhone>;
  /** The other end of the last call with this number. */
  phoneOf(number: string): VoicePhone;
  /** The next requests to place or change a call fail with these errors, one each. */
  failNext(...errors: readonly (readonly [status: number, code: number])[]): void;
}

export async function startVoicePlatform(options: VoicePlatformOptions): Promise<VoicePlatform> {
  const { accountSid, authToken, number: own, clock = fakeClock(), pace, routeTo = (url) => url } = options;
  const [warnings, failures]: [string[], (readonly [number, number])[]] = [[], []];
  const account = createAccount(accountSid, own);
  const { number, recordings, unfinished, moved } = account;
  const exchange = createExchange({ accountSid, authToken, clock, routeTo, warnings, recordings });
  const statusCallback = () => number.statusCallback;
  const calls = createCalls({ accountSid, own, clock, exchange, isInstant: pace === "instant", statusCallback });
  const credentials = `Basic ${Buffer.from(`${accountSid}:${authToken}`).toString("base64")}`;
  const root = `/2010-04-01/Accounts/${accountSid}`;

  function acted(
    request: PlatformRequest,
    rules: ParameterRules,
    act: (form: VoiceForm) => PlatformReply,
  ): PlatformReply {
    const failure = failures.shift();
    if (failure) throw new VoiceError(failure[0], failure[1], "As the test wants it.");
    return act(parametersOf(request, rules));
  }

  function onCalls(request: PlatformRequest, sid: string | undefined): PlatformReply {
    const isGet = request.method === "GET";
    if (sid === undefined) return isGet ? calls.list(request.query) : acted(request, CREATE, calls.create);
    const live = exchange.find(sid);
    if (!live) throw notFound(request.path);
    if (isGet) return { json: callJson(accountSid, live.call) };
    return acted(request, UPDATE, (form) => calls.update(live, form));
  }

  function route(request: PlatformRequest): PlatformReply {
    const { method, path, query, headers } = request;
    if (headers["authorization"] !== credentials) throw new VoiceError(401, 20003, "Authenticate");
    if (method === "GET" && path === `${root}.json`) return account.describe();
    if (!path.startsWith(`${root}/`) || (method !== "GET" && method !== "POST")) throw notFound(path);
    const [, collection, item] =
      /^\/([A-Za-z]+)(?:\/([A-Za-z0-9.]+))?$/.exec(path.slice(root.length).replace(/\.json$/, "")) ?? [];
    if (collection === "Calls") return onCalls(request, item);
    if (collection === "Recordings" && item !== undefined) return account.recording(path.split("/").at(-1)!);
    if (collection !== "IncomingPhoneNumbers") throw notFound(path);
    if (item === undefined) return account.findNumbers(query.get("PhoneNumber") ?? "");
    return account.setNumber(item, parametersOf(request, NUMBER));
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
    recordings,
    unfinished,
    moved,
    sent: calls.sent,
    warnings,
    failNext: (...errors: readonly (readonly [number, number])[]) => void failures.push(...errors),
    async ring(from: string, more: VoiceFields = {}) {
      const { begin, phone } = calls.openIncoming(from, more);
      begin({ kind: "fetch", url: number.voiceUrl, fields: {} });
      await phone.waits(1);
      return phone;
    },
    phoneOf(who: string) {
      const live = calls.latest(who);
      if (!live) throw new Error("there is no call with this number");
      return live.phone;
    },
  });
}
