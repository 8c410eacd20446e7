/**
 * An answer that goes out as speech, behind the same words as text. It is spoken when its turn to be sent has come, so that no text
 * waits for a voice; what was spoken is kept for the next try, and spoken anew after a restart only.
 */
import { type Channel, type OutgoingFile, type SpeechFormat, type SpokenText, SvcError } from "@svc/contract";
import type { Delivery, KeptFile } from "@svc/store";

/** Makes speech of a text. Throws SPEECH_FAILED. */
export type SpeakAnswer = (text: string, signal: AbortSignal, format: SpeechFormat) => Promise<SpokenText>;

export const isSpoken = ({ files }: Pick<Delivery, "files">): boolean => files.some(({ speak }) => speak !== undefined);

/** Answers whose platform was away when they had been spoken. */
const MOST_KEPT = 16;

export class SpokenAnswers {
  readonly #speak: SpeakAnswer;
  /** By delivery. */
  readonly #kept = new Map<number, SpokenText>();

  constructor(speak: SpeakAnswer) {
    this.#speak = speak;
  }

  /** Throws SPEECH_FAILED; an abort with the signal's reason. */
  async fileOf(
    n: number,
    { kind, speak }: KeptFile,
    media: Channel["media"],
    signal: AbortSignal,
  ): Promise<OutgoingFile> {
    const { mimeType, bytes } = this.#kept.get(n) ?? (await this.#spoken(speak ?? "", media, signal));
    if (bytes.byteLength > (media?.maxBytes ?? 0)) {
      throw new SvcError("SPEECH_FAILED", "The spoken answer is larger than this channel takes.");
    }
    this.#keep(n, { mimeType, bytes });
    return { kind, name: `answer.${EXTENSIONS[mimeType] ?? "mp3"}`, mimeType, read: async () => bytes };
  }

  /** It is over. */
  forget(n: number): void {
    this.#kept.delete(n);
  }

  async #spoken(text: string, media: Channel["media"], signal: AbortSignal): Promise<SpokenText> {
    try {
      return await this.#speak(text, signal, media?.voiceNotes ? "ogg" : "any");
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof SvcError && cause.code === "SPEECH_FAILED") throw cause;
      const message = cause instanceof SvcError ? cause.message : "The answer could not be spoken.";
      throw new SvcError("SPEECH_FAILED", message, { cause });
    }
  }

  #keep(n: number, spoken: SpokenText): void {
    this.#kept.delete(n);
    this.#kept.set(n, spoken);
    for (const oldest of this.#kept.keys()) if (this.#kept.size > MOST_KEPT) this.#kept.delete(oldest);
  }
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "audio/ogg": "ogg",
  "audio/opus": "opus",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/aac": "aac",
  "audio/mp4": "m4a",
  "audio/flac": "flac",
};
