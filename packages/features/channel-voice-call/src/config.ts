/** The section: the account, who may call, and how a call goes. */
import { allowlist, apiUrl, channelKeys, httpUrl, integer, secret, trimEndOf } from "@svc/contract";
import * as v from "valibot";
import { E164 } from "./protocol.ts";

/** A sentence that callers hear. Blank: nothing is said. */
const phrase = (standard: string, description: string) =>
  v.optional(v.pipe(v.string(), v.maxLength(200), v.description(description)), standard);

const secs = (standard: number, min: number, max: number, description: string) =>
  v.optional(v.pipe(integer(min, max), v.description(description)), standard);

const flag = (description: string) => v.optional(v.pipe(v.boolean(), v.description(description)), false);

export const config = v.strictObject({
  account_sid: v.pipe(
    v.string(),
    v.regex(/^AC[0-9a-fA-F]{32}$/, "AC and 32 hexadecimal digits, from the platform's console"),
    v.description("Account SID, from the platform's console."),
  ),
  auth_token: v.pipe(
    secret({ env: "SVC_VOICE_AUTH_TOKEN", envMode: "override", ask: true }),
    v.description(
      "Auth token of the account. svc sends it with requests, and the platform signs its requests with it.",
    ),
  ),
  from_number: v.pipe(
    v.string(),
    v.regex(E164, "a phone number with + and country code, without spaces"),
    v.description("Phone number of the account, such as +15551234567, for incoming and outgoing calls."),
  ),
  allowed_numbers: allowlist("Phone numbers with country code"),
  verified_callers_only: flag(
    "Accept only calls whose number is verified by the caller's network (STIR/SHAKEN); other numbers can be forged.",
  ),
  webhook_url: v.optional(
    v.pipe(
      httpUrl(),
      v.maxLength(200),
      v.description("Public URL of this service for the platform, without /voice-call. Default: gateway.public_url."),
      v.transform((url) => trimEndOf(url, "/")),
    ),
  ),
  language: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/, "a BCP 47 tag such as en-US"),
      v.description("Language to speak and recognise, such as en-US."),
    ),
    "en-US",
  ),
  voice: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[\w.-]{1,80}$/, "the name of a voice, such as Polly.Joanna-Neural"),
      v.description("Voice, as the platform names it. Default: the platform's default for the language."),
    ),
  ),
  recognizer: v.optional(
    v.pipe(
      v.picklist(["platform", "transcription"]),
      v.description("Speech recognition: the platform's, or [transcription] from recordings."),
    ),
    "platform",
  ),
  speaker: v.optional(
    v.pipe(
      v.picklist(["auto", "platform", "tts"]),
      v.description("Voice: auto uses [tts] if it is on, else the platform's voice."),
    ),
    "auto",
  ),
  greeting: phrase("Hello. How can I help you?", "Greeting for callers."),
  filler: phrase("One moment, please.", "Spoken when an answer takes some seconds; blank: nothing."),
  reprompt: phrase("Are you still there?", "Spoken once to a silent caller."),
  goodbye: phrase("Goodbye.", "Spoken before hanging up."),
  code_notice: phrase("There is a piece of code here that I leave out.", "Spoken instead of a block of code."),
  keys_notice: phrase(
    "Press 1 for {approve}, or 2 for {reject}.",
    "Spoken after a question that is answered by a key; {approve} and {reject} stand for the answers.",
  ),
  silence_timeout_secs: secs(
    5,
    1,
    60,
    "Seconds of silence after which a caller is asked again; after the next silence the call ends.",
  ),
  speech_timeout_secs: secs(0, 0, 60, "Seconds of silence that end a caller's message; 0: the recogniser decides."),
  filler_after_secs: secs(4, 1, 60, "Seconds without an answer before the filler is spoken."),
  max_call_secs: secs(600, 30, 14_400, "Longest call, in seconds."),
  ring_secs: secs(30, 5, 600, "Seconds to let the phone ring on an outgoing call."),
  detect_voicemail: flag("On voicemail, wait for the end of the greeting before speaking."),
  api_url: apiUrl("https://api.twilio.com"),
  ...channelKeys,
});

export type Config = v.InferOutput<typeof config>;
