/** The channel: calls come in by webhooks, everything else goes through the REST API. */
import { type Channel, type Contributions, type FeatureContext, type Json, type Media, SvcError } from "@svc/contract";
import { asCheckFailure, downloadMedia, fieldsOf, isAllowed, listOf, runChannel, senderGate } from "@svc/kit";
import { type PlatformApi, platformApi } from "./api.ts";
import { Calls, stopped } from "./calls.ts";
import type { Config } from "./config.ts";
import { dialogue } from "./dialogue.ts";
import { MAX_CHARS, asChannel, messageSender, placedCalls } from "./send.ts";
import { CHANNEL, PATHS } from "./protocol.ts";
import { AudioCache, createSpeaker } from "./speaker.ts";
import { documents } from "./twiml.ts";
import { RECORDING_SID, audioFiles, callStates, callersSpeech, incomingCalls, nextDocuments } from "./webhooks.ts";
import { begunIn } from "./progress.ts";

export function create(context: FeatureContext<Config>): Contributions {
  const { config, log, clock, publicUrl } = context;
  const known = config.webhook_url ?? publicUrl;
  const base = known ?? "";
  const api = platformApi(config, context);
  const calls = new Calls();
  const cache = new AudioCache();
  const speaker = createSpeaker(config, { base, cache }, context);
  const written = documents(config, base);
  const { allowed_numbers: allowed } = config;
  const talk = dialogue({
    config,
    documents: written,
    phrase: speaker.phrase,
    isAllowed: (person) => isAllowed(allowed, person, "phone"),
  });
  const letsIn = senderGate({ allowed, mode: "phone", log, channel: CHANNEL });
  const ways = { config, base: known, calls, dialogue: talk, documents: written, letsIn, log };
  const send = messageSender({
    config,
    base,
    api,
    calls,
    dialogue: talk,
    speaker,
    placed: placedCalls(context),
    clock,
  });
  const life = new AbortController();
  const makePhrases = (): void => void speaker.makePhrases(life.signal);
  const check = (signal: AbortSignal): Promise<string> => accountLine(api, config, signal);

  return {
    channel: {
      text: { maxChars: MAX_CHARS },
      ...asChannel(send),
      ...(config.recognizer === "transcription" && { media: recordings(api, context) }),
      check,
      setup: (_, signal) => setUp(api, config, base, signal),
      onNotice: followUp({ config, base, api, makePhrases }),
    },
    ingress: [incomingCalls(ways), nextDocuments(ways), callersSpeech(ways), callStates(ways), audioFiles(cache)],
    async register(signal) {
      signal.throwIfAborted();
      if (known === undefined) throw noAddress();
    },
    async run(signal) {
      signal.throwIfAborted();
      makePhrases();
      await runChannel(check, log, signal);
    },
    async shutdown() {
      life.abort(stopped());
      calls.stop();
    },
  };
}

const noAddress = (): SvcError =>
  new SvcError("FEATURE_FAILED", "The platform can't reach this service: its public address is not configured.", {
    hint: "Set gateway.public_url, or webhook_url in [channels_config.voice_call].",
  });

/**
 * Follows up an incoming call after the webhook's answer: sets its time limit and the status callback at the platform, independent of the
 * phone number's own settings.
 */
interface FollowUpDeps {
  readonly config: Config;
  readonly base: string;
  readonly api: PlatformApi;
  /** In the background. */
  readonly makePhrases: () => void;
}

function followUp({ config, base, api, makePhrases }: FollowUpDeps): NonNullable<Channel["onNotice"]> {
  return async (notice, signal) => {
    signal.throwIfAborted();
    const sid = begunIn(notice);
    if (sid === undefined) return;
    const callback = { StatusCallback: `${base}${PATHS.status}`, StatusCallbackMethod: "POST" };
    const wanted = { TimeLimit: config.max_call_secs, ...callback };
    await api.updateCall(sid, wanted, signal).catch((error: unknown) => {
      // An account may not choose: the call ends by our own watch all the same.
      if (!(error instanceof SvcError) || error.code !== "DELIVERY_REFUSED") throw error;
    });
    makePhrases();
  };
}

// What callers said, as recordings. https://www.twilio.com/docs/voice/api/recording#fetch-a-recording-media-file

/** An hour and a half; recordings take at most a minute. */
const MAX_RECORDING_BYTES = 26_214_400;

function recordings(api: PlatformApi, { clock, fetch }: Pick<FeatureContext, "clock" | "fetch">): Media {
  return {
    maxBytes: MAX_RECORDING_BYTES,
    sends: [],
    async fetch({ ref }, write, signal) {
      signal.throwIfAborted();
      // It becomes a path of the API, and anyone who made the delivery chose it.
      if (!RECORDING_SID.test(ref))
        throw new SvcError("MEDIA_REFUSED", "The recording's id is not a valid id of the platform.");
      const url = `${api.root}/Recordings/${ref}.mp3`;
      const { headers } = api;
      const download = { url, headers, maxBytes: MAX_RECORDING_BYTES, write, signal, nowMs: clock.now() };
      try {
        return await downloadMedia(fetch, { ...download, redirects: "same-host" });
      } catch (error) {
        throw (await isInTheMaking(api, ref, signal)) ? notYet(error) : error;
      }
    },
  };
}

/** It is announced as soon as the caller is silent, and there some moments later. */
async function isInTheMaking(api: PlatformApi, ref: string, signal: AbortSignal): Promise<boolean> {
  const { status } = await api.get(`/Recordings/${ref}`, {}, signal).catch(() => ({ status: undefined }));
  return status === "processing" || status === "in-progress";
}

const notYet = (cause: unknown): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", "The recording is not ready yet.", { cause, retryAfterMs: 1_000 });

// The account on the platform, and `svc channels setup voice_call`.

/** One line for a person. */
async function accountLine(api: PlatformApi, { from_number: number }: Config, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const { friendly_name: name, status, type } = await api.get("", {}, signal).catch(asCheckFailure);
  const notes = [type === "Trial" && "trial: calls verified numbers only", status !== "active" && word(status)];
  const shown = notes.filter((note) => typeof note === "string" && note !== "");
  const who = word(name) === "" ? "an account without a name" : word(name);
  return `${who}, ${number}${shown.length > 0 ? ` (${shown.join(", ")})` : ""}`;
}

/** It goes to a terminal. */
const word = (value: unknown): string =>
  typeof value === "string"
    ? value
        .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ")
        .trim()
        .slice(0, 100)
    : "";

/**
 * `svc channels setup voice_call`: the phone number calls this service.
 * https://www.twilio.com/docs/phone-numbers/api/incomingphonenumber-resource
 */
async function setUp(api: PlatformApi, config: Config, base: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const { from_number: number, allowed_numbers: allowed } = config;
  const found = await api.get("/IncomingPhoneNumbers", { PhoneNumber: number }, signal).catch(asCheckFailure);
  const sid = sidIn(found["incoming_phone_numbers"]);
  if (sid === undefined) {
    throw new SvcError("CHANNEL_CANNOT", `The account has no phone number ${number}.`, {
      hint: "Buy one in the platform's console, or set from_number to one it has.",
    });
  }
  const voice = { VoiceUrl: `${base}${PATHS.incoming}`, VoiceMethod: "POST" };
  const status = { StatusCallback: `${base}${PATHS.status}`, StatusCallbackMethod: "POST" };
  await api.post(`/IncomingPhoneNumbers/${sid}`, { ...voice, ...status }, signal).catch(asCheckFailure);
  return [
    `Calls to ${number} come in at ${base}${PATHS.incoming}, and how they end at ${base}${PATHS.status}.`,
    ...(/^https:/i.test(base) ? [] : ["The platform should reach it by https: set gateway.public_url."]),
    ...(allowed.length > 0 ? [] : ["No caller is allowed yet: add numbers to allowed_numbers."]),
  ].join(" ");
}

function sidIn(list: Json | undefined): string | undefined {
  const { sid } = fieldsOf(listOf(list)[0]);
  return typeof sid === "string" && /^PN[0-9a-fA-F]{32}$/.test(sid) ? sid : undefined;
}
