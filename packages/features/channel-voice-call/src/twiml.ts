/**
 * Documents with the platform's next steps in a call. https://www.twilio.com/docs/voice/twiml
 *
 *   listening   says something, if there is something to say, and hears the caller: an answer may be cut short by who listens
 *   telling     says something and comes back at once: there is more to say
 *   holding     keeps the line, and comes back after some seconds; may be interrupted at any time, as nothing is said in it
 *   ending      says something and hangs up
 */
import type { Config } from "./config.ts";
import { type Progress, queryOf } from "./progress.ts";
import { PATHS } from "./protocol.ts";

/** Speech: text for the platform's voice, or the URL of an audio file. */
export type Spoken = { readonly text: string } | { readonly audioUrl: string };

export interface Listening {
  readonly spoken: Spoken | undefined;
  /** Seconds of silence that are waited for. */
  readonly silenceSecs: number;
  /** Where it goes on in silence. */
  readonly onSilence: Progress;
}

export interface Documents {
  listening(progress: Progress, listening: Listening): string;
  telling(spoken: Spoken, next: Progress): string;
  holding(next: Progress, secs: number): string;
  ending(spoken: Spoken | undefined): string;
  readonly refusal: string;
  /** An empty document, for a request without a call. */
  readonly nothing: string;
}

/** `base`: the public URL of this service. */
export function documents(config: Config, base: string): Documents {
  const next = (progress: Progress): Xml =>
    element("Redirect", { method: "POST" }, `${base}${PATHS.next}${queryOf(progress)}`);
  const say = (spoken: Spoken): Xml =>
    "text" in spoken
      ? element("Say", { voice: config.voice, language: config.language }, spoken.text)
      : element("Play", {}, spoken.audioUrl);
  const hear = hearing(config, base);
  return {
    listening: (progress, { spoken, silenceSecs, onSilence }) =>
      response(...hear(progress, spoken && say(spoken), silenceSecs), next(onSilence)),
    telling: (spoken, progress) => response(say(spoken), next(progress)),
    holding: (progress, secs) => response(element("Pause", { length: secs }), next(progress)),
    ending: (spoken) => response(...(spoken ? [say(spoken)] : []), element("Hangup", {})),
    refusal: response(element("Reject", {})),
    nothing: response(),
  };
}

const response = (...verbs: readonly Xml[]): string => document(element("Response", {}, ...verbs));

type Hearing = (progress: Progress, said: Xml | undefined, silenceSecs: number) => readonly Xml[];

/** A recording is of what the caller says, up to a minute of it. */
const MAX_RECORDING_SECS = 60;

function hearing({ recognizer, language, speech_timeout_secs: endSecs }: Config, base: string): Hearing {
  const action = (progress: Progress): string => `${base}${PATHS.speech}${queryOf(progress)}`;
  const gather: Hearing = (progress, said, silenceSecs) => {
    const byKey = progress.ask !== undefined;
    const byVoice = recognizer === "platform";
    const attributes = {
      input: byKey ? (byVoice ? "dtmf speech" : "dtmf") : "speech",
      action: action(progress),
      method: "POST",
      timeout: silenceSecs,
      ...(byKey && { numDigits: 1 }),
      ...(byVoice && { language, speechTimeout: endSecs === 0 ? "auto" : endSecs }),
    };
    return [element("Gather", attributes, ...(said ? [said] : []))];
  };
  const record: Hearing = (progress, said, silenceSecs) => {
    const attributes = {
      action: action(progress),
      method: "POST",
      timeout: endSecs === 0 ? silenceSecs : endSecs,
      maxLength: MAX_RECORDING_SECS,
      playBeep: "false",
      trim: "trim-silence",
      finishOnKey: "",
    };
    return [...(said ? [said] : []), element("Record", attributes)];
  };
  return (progress, ...rest) => (recognizer === "platform" || progress.ask ? gather : record)(progress, ...rest);
}

// XML 1.0 of elements, attributes and texts. Escaping keeps text from becoming an element.

/** Marked as XML already. */
interface Xml {
  readonly xml: string;
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Attributes that are undefined are left out. */
function element(name: string, attributes: Attributes, ...children: readonly (Xml | string)[]): Xml {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escaped(String(value)).replaceAll('"', "&quot;").replaceAll(/\s/g, " ")}"`)
    .join("");
  if (children.length === 0) return { xml: `<${name}${written}/>` };
  const content = children.map((child) => (typeof child === "string" ? escaped(child) : child.xml)).join("");
  return { xml: `<${name}${written}>${content}</${name}>` };
}

const document = (root: Xml): string => `<?xml version="1.0" encoding="UTF-8"?>${root.xml}`;

const escaped = (text: string): string =>
  sayable(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Without what XML can't hold (https://www.w3.org/TR/xml/#charsets), and line ends as a parser hands them over. */
export const sayable = (text: string): string =>
  text.replaceAll(/\r\n?/g, "\n").replaceAll(/[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "");
