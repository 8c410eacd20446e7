/** Who speaks: the service of [tts], whose speech the platform plays, or the platform's own voice. */
import { type FeatureContext, SvcError } from "@svc/contract";
import type { Config } from "../config.ts";
import { PATHS } from "../ingress/paths.ts";
import type { Spoken } from "../twiml/documents.ts";
import type { AudioShelf } from "./audio-shelf.ts";

export interface Speaker {
  /** With speech that cannot be made the platform speaks: nobody is left in silence. Rejects with the signal's reason. */
  speak(text: string, signal: AbortSignal): Promise<Spoken>;
  /** Lets go of what was made for it. */
  drop(spoken: Spoken): void;
  /** Of the config; as it was made last, else by the platform's voice. Undefined for a blank one. */
  phrase(text: string, nowMs: number): Spoken | undefined;
  /** Makes the phrases that are missing or old, until the signal is aborted. Nothing waits for it; it never rejects. */
  makePhrases(signal: AbortSignal): Promise<void>;
}

/** Somebody holds the line. */
const LIMIT_MS = 15_000;
/** Another voice of [tts] is heard in them after so long. */
const PHRASE_MS = 3_600_000;
/** The old one may be on its way to somebody's ear. */
const PHRASE_KEPT_MS = PHRASE_MS + 1_200_000;

type Surroundings = Pick<FeatureContext, "clock" | "log" | "speech">;

export function createSpeaker(
  config: Config,
  { base, shelf }: { readonly base: string; readonly shelf: AudioShelf },
  { clock, log, speech }: Surroundings,
): Speaker {
  const phrases = new Map<string, { readonly id: string; readonly madeMs: number }>();
  const usesService = (): boolean => config.speaker === "tts" || (config.speaker === "auto" && speech.canSpeak);
  const urlOf = (id: string): string => `${base}${PATHS.audio}?id=${id}`;

  const audioOf = async (
    text: string,
    keptMs: number | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> => {
    if (!usesService()) return undefined;
    const limit = new AbortController();
    const cancel = clock.after(LIMIT_MS, () => limit.abort(new SvcError("SPEECH_FAILED", "It took too long.")));
    try {
      const made = await speech.speak(text, AbortSignal.any([signal, limit.signal]));
      return shelf.put(made, clock.now(), keptMs);
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof SvcError ? error.message : "unknown";
      log.warn("speech could not be made: the platform's voice speaks", { reason });
      return undefined;
    } finally {
      cancel();
    }
  };

  let making: Promise<void> | undefined;

  const makeMissing = async (signal: AbortSignal): Promise<void> => {
    for (const text of [config.greeting, config.filler, config.reprompt, config.goodbye]) {
      const before = phrases.get(text);
      if (text.trim() === "" || (before && clock.now() - before.madeMs < PHRASE_MS)) continue;
      const id = await audioOf(text, PHRASE_KEPT_MS, signal);
      // What can't be made now is made when somebody calls again.
      if (id === undefined) return;
      phrases.set(text, { id, madeMs: clock.now() });
    }
  };

  return {
    async speak(text, signal) {
      const id = await audioOf(text, undefined, signal);
      return id === undefined ? { text } : { audioUrl: urlOf(id) };
    },
    drop(spoken) {
      if ("audioUrl" in spoken) shelf.drop(spoken.audioUrl.slice(urlOf("").length));
    },
    phrase(text, nowMs) {
      if (text.trim() === "") return undefined;
      const made = phrases.get(text);
      return made && usesService() && shelf.get(made.id, nowMs) ? { audioUrl: urlOf(made.id) } : { text };
    },
    makePhrases(signal) {
      making ??= makeMissing(signal)
        .catch(() => undefined)
        .finally(() => (making = undefined));
      return making;
    },
  };
}
