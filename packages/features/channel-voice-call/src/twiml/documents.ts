/**
 * What the platform is told to do next in a call. https://www.twilio.com/docs/voice/twiml
 *
 *   listening   says something, if there is something to say, and hears the caller: an answer may be cut short by who listens
 *   telling     says something and comes back at once: there is more to say
 *   holding     keeps the line, and comes back after some seconds; may be interrupted at any time, as nothing is said in it
 *   ending      says something and hangs up
 */
import type { Config } from "../config.ts";
import { type Place, queryOf } from "../calls/place.ts";
import { PATHS } from "../ingress/paths.ts";
import { document, element, type Xml } from "./xml.ts";

/** What is said: by the platform's voice, or from an address where the speech is. */
export type Spoken = { readonly text: string } | { readonly audioUrl: string };

export interface Listening {
  readonly spoken: Spoken | undefined;
  /** Seconds of silence that are waited for. */
  readonly silenceSecs: number;
  /** Where it goes on in silence. */
  readonly onSilence: Place;
}

export interface Documents {
  listening(place: Place, listening: Listening): string;
  telling(spoken: Spoken, next: Place): string;
  holding(next: Place, secs: number): string;
  ending(spoken: Spoken | undefined): string;
  readonly refusal: string;
  /** Tells nothing: for what is no call. */
  readonly nothing: string;
}

/** `base`: the public URL of this service. */
export function documents(config: Config, base: string): Documents {
  const next = (place: Place): Xml => element("Redirect", { method: "POST" }, `${base}${PATHS.next}${queryOf(place)}`);
  const say = (spoken: Spoken): Xml =>
    "text" in spoken
      ? element("Say", { voice: config.voice, language: config.language }, spoken.text)
      : element("Play", {}, spoken.audioUrl);
  const hear = hearing(config, base);
  return {
    listening: (place, { spoken, silenceSecs, onSilence }) =>
      response(...hear(place, spoken && say(spoken), silenceSecs), next(onSilence)),
    telling: (spoken, place) => response(say(spoken), next(place)),
    holding: (place, secs) => response(element("Pause", { length: secs }), next(place)),
    ending: (spoken) => response(...(spoken ? [say(spoken)] : []), element("Hangup", {})),
    refusal: response(element("Reject", {})),
    nothing: response(),
  };
}

const response = (...verbs: readonly Xml[]): string => document(element("Response", {}, ...verbs));

type Hearing = (place: Place, said: Xml | undefined, silenceSecs: number) => readonly Xml[];

/** A recording is of what the caller says, up to a minute of it. */
const MAX_RECORDING_SECS = 60;

function hearing({ recognizer, language, speech_timeout_secs: endSecs }: Config, base: string): Hearing {
  const action = (place: Place): string => `${base}${PATHS.speech}${queryOf(place)}`;
  const gather: Hearing = (place, said, silenceSecs) => {
    const byKey = place.ask !== undefined;
    const byVoice = recognizer === "platform";
    const attributes = {
      input: byKey ? (byVoice ? "dtmf speech" : "dtmf") : "speech",
      action: action(place),
      method: "POST",
      timeout: silenceSecs,
      ...(byKey && { numDigits: 1 }),
      ...(byVoice && { language, speechTimeout: endSecs === 0 ? "auto" : endSecs }),
    };
    return [element("Gather", attributes, ...(said ? [said] : []))];
  };
  const record: Hearing = (place, said, silenceSecs) => {
    const attributes = {
      action: action(place),
      method: "POST",
      timeout: endSecs === 0 ? silenceSecs : endSecs,
      maxLength: MAX_RECORDING_SECS,
      playBeep: "false",
      trim: "trim-silence",
      finishOnKey: "",
    };
    return [...(said ? [said] : []), element("Record", attributes)];
  };
  return (place, ...rest) => (recognizer === "platform" || place.ask ? gather : record)(place, ...rest);
}
