/** Who speaks: the service of [tts], whose speech the platform plays, or the platform's own voice. */
import { type FeatureContext, type SpokenText, SvcError } from "@svc/contract";
import { withDeadline } from "@svc/kit/async";
import { randomBytes } from "node:crypto";
import type { Config } from "./config.ts";
import { PATHS } from "./protocol.ts";
import type { Spoken } from "./twiml.ts";

export interface Speaker {
  /** With speech that cannot be made the platform speaks: no one is left in silence. Rejects with the signal's reason. */
  speak(text: string, signal: AbortSignal): Promise<Spoken>;
  /** Lets go of what was made for it. */
  drop(spoken: Spoken): void;
  /** Of the config; as it was made last, else by the platform's voice. Undefined for a blank one. */
  phrase(text: string, nowMs: number): Spoken | undefined;
  /** Makes the phrases that are missing or old, until the signal is aborted. Nothing waits for it; it never rejects. */
  makePhrases(signal: AbortSignal): Promise<void>;
}

/** Someone holds the line. */
const LIMIT_MS = 15_000;
/** Another voice of [tts] is heard in them after so long. */
const PHRASE_MS = 3_600_000;
/** The old one may be on its way to someone's ear. */
const PHRASE_KEPT_MS = PHRASE_MS + 1_200_000;

type SpeakerDeps = Pick<FeatureContext, "clock" | "log" | "speech">;

export function createSpeaker(
  config: Config,
  { base, cache }: { readonly base: string; readonly cache: AudioCache },
  { clock, log, speech }: SpeakerDeps,
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
    const error = (): SvcError => new SvcError("SPEECH_FAILED", "It took too long.");
    try {
      const limit = { clock, timeoutMs: LIMIT_MS, signal, error };
      const made = await withDeadline(limit, (given) => speech.speak(text, given));
      return cache.put(made, clock.now(), keptMs);
    } catch (error) {
      signal.throwIfAborted();
      const reason = error instanceof SvcError ? error.message : "unknown";
      log.warn("speech could not be made: the platform's voice speaks", { reason });
      return undefined;
    }
  };

  let making: Promise<void> | undefined;

  const makeMissing = async (signal: AbortSignal): Promise<void> => {
    for (const text of [config.greeting, config.filler, config.reprompt, config.goodbye]) {
      const before = phrases.get(text);
      if (text.trim() === "" || (before && clock.now() - before.madeMs < PHRASE_MS)) continue;
      const id = await audioOf(text, PHRASE_KEPT_MS, signal);
      // What can't be made now is made when someone calls again.
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
      if ("audioUrl" in spoken) cache.drop(spoken.audioUrl.slice(urlOf("").length));
    },
    phrase(text, nowMs) {
      if (text.trim() === "") return undefined;
      const made = phrases.get(text);
      return made && usesService() && cache.get(made.id, nowMs) ? { audioUrl: urlOf(made.id) } : { text };
    },
    makePhrases(signal) {
      making ??= makeMissing(signal)
        .catch(() => undefined)
        .finally(() => (making = undefined));
      return making;
    },
  };
}

// Speech that waits to be played, in memory: of one call each, by an id that no one guesses.

/** A phone may ring for ten minutes. */
const KEPT_MS = 1_200_000;
const MOST_BYTES = 64 * 1_048_576;

interface Audio extends SpokenText {
  readonly untilMs: number;
}

export class AudioCache {
  readonly #audio = new Map<string, Audio>();
  #bytes = 0;

  /** The id that it is fetched by. What was put there first goes when there is no room. */
  put(spoken: SpokenText, nowMs: number, keptMs: number = KEPT_MS): string {
    this.#bytes += spoken.bytes.byteLength;
    const id = randomBytes(24).toString("base64url");
    this.#audio.set(id, { ...spoken, untilMs: nowMs + keptMs });
    for (const [oldest, { untilMs }] of this.#audio) {
      if (oldest !== id && (this.#bytes > MOST_BYTES || untilMs <= nowMs)) this.drop(oldest);
    }
    return id;
  }

  get(id: string, nowMs: number): SpokenText | undefined {
    const audio = this.#audio.get(id);
    return audio && audio.untilMs > nowMs ? audio : undefined;
  }

  drop(id: string): void {
    this.#bytes -= this.#audio.get(id)?.bytes.byteLength ?? 0;
    this.#audio.delete(id);
  }

  get count(): number {
    return this.#audio.size;
  }
}
