/** `FeatureContext.speech`: speech to text and back, by the settings in force when it is asked. */
import {
  type Channel,
  type FetchResult,
  type OutgoingFile,
  type Speech,
  type SpeechFormat,
  type SpokenText,
  SvcError,
} from "@svc/contract";
import type { MessagingSettings, SpeechSettings } from "../types.ts";
import {
  type SpeechDeps,
  type SpeechQuestion,
  type SpeechService,
  askService,
  useProgram,
  usesFile,
} from "./backends.ts";
import { transcribe } from "./transcribe.ts";
import { splitText } from "@svc/kit";
import { isOggOpus, oggOpusOf, readWav } from "@svc/kit/audio";
import type { StoredFile } from "@svc/store";
import { Semaphore } from "@svc/kit/async";

export interface SpeechOptions extends Omit<SpeechDeps, "signal"> {
  readonly settings: () => Pick<MessagingSettings, "transcription" | "speech">;
  /** Shared with whoever else has recordings transcribed. */
  readonly transcriber: SpeechPermits;
}

export function createSpeech({ settings, transcriber, ...way }: SpeechOptions): Speech {
  const speaker = new SpeechPermits();
  return {
    get canTranscribe() {
      return settings().transcription !== undefined;
    },
    get canSpeak() {
      return settings().speech !== undefined;
    },
    get plays() {
      return settings().speech?.play === true;
    },
    async transcribe(recording, signal) {
      const { transcription } = settings();
      if (!transcription) throw isOff("transcription");
      return transcriber.whenFree(() => transcribe({ ...way, signal }, transcription, recording), signal);
    },
    async speak(text, signal, format) {
      const { speech } = settings();
      if (!speech) throw isOff("tts");
      return speaker.whenFree(() => speak({ ...way, signal }, speech, text, format), signal);
    },
  };
}

const isOff = (section: string): SvcError =>
  new SvcError("CHANNEL_CANNOT", `[${section}] is off.`, { hint: `Set ${section}.enabled = true in config.toml.` });

/**
 * A text as speech, by a program of this machine, or by a service that speaks OpenAI's `POST /audio/speech`
 * (https://platform.openai.com/docs/api-reference/audio/createSpeech).
 */
const SERVICE: SpeechService = { code: "SPEECH_FAILED", does: "speaks", section: "tts" };
const TIMEOUT_MS = 60_000;
const PROGRAM_TIMEOUT_MS = 120_000;
/** Twenty minutes at 160 kbit/s. */
const MAX_AUDIO_BYTES = 24 * 1_048_576;
/** Twenty minutes of 16-bit samples at 24 000 Hz. */
const MAX_WAV_BYTES = 60 * 1_048_576;
const TOO_LONG = "Set tts.max_chars to less.";
const MP3 = "audio/mpeg";
const OGG = "audio/ogg";
const WAV = "audio/wav";

/**
 * Of a text longer than `maxChars` its beginning, up to the end of a sentence. Throws SPEECH_FAILED; an abort with the
 * signal's reason.
 */
export async function speak(
  deps: SpeechDeps,
  settings: SpeechSettings,
  text: string,
  format: SpeechFormat = "any",
): Promise<SpokenText> {
  const [input] = splitText(text, settings.maxChars);
  if (input === undefined) throw new SvcError("SPEECH_FAILED", "There is nothing to say.");
  const spoken = settings.command
    ? await spokenByProgram(deps, settings.command, input)
    : await spokenByService(deps, settings, input, format);
  return format === "ogg" ? asVoiceNote(spoken, deps.signal) : spoken;
}

async function spokenByProgram(
  { runProgram, signal }: SpeechDeps,
  command: readonly [string, ...string[]],
  input: string,
): Promise<SpokenText> {
  const { stdoutBytes: bytes = new Uint8Array() } = await useProgram(runProgram, SERVICE, {
    command,
    files: { text: { name: "text.txt", bytes: new TextEncoder().encode(input) } },
    ...(!usesFile(command, "text") && { stdin: input }),
    binary: true,
    timeoutMs: PROGRAM_TIMEOUT_MS,
    maxOutputBytes: MAX_WAV_BYTES,
    signal,
  });
  const mimeType = typeByContent(bytes);
  if (mimeType !== undefined) return { mimeType, bytes };
  throw new SvcError("SPEECH_FAILED", "The program of [tts] wrote no WAV, Ogg or MP3 to its output.", {
    hint: "Check tts.command: sound must go to standard output, and nothing else.",
  });
}

function typeByContent(bytes: Uint8Array): string | undefined {
  const beginning = String.fromCharCode(...bytes.subarray(0, 4));
  if (beginning === "RIFF") return readWav(bytes) && WAV;
  if (beginning === "OggS") return OGG;
  return beginning.startsWith("ID3") || (bytes[0] === 0xff && (bytes[1]! & 0xe0) === 0xe0) ? MP3 : undefined;
}

async function spokenByService(
  deps: SpeechDeps,
  { baseUrl, apiKey, model, voice }: SpeechSettings,
  input: string,
  format: SpeechFormat,
): Promise<SpokenText> {
  const ask = (as: "mp3" | "opus" | "wav", more: Partial<SpeechQuestion> = {}): Promise<SpokenText | "refused"> =>
    askService(
      deps,
      SERVICE,
      {
        url: `${baseUrl}/audio/speech`,
        apiKey,
        contentType: "application/json",
        body: JSON.stringify({ model, voice, input, response_format: as }),
        maxBytes: as === "wav" ? MAX_WAV_BYTES : MAX_AUDIO_BYTES,
        timeoutMs: TIMEOUT_MS,
        ...more,
      },
      (answer) => (answer.status === 200 ? audioOf(answer) : "refused"),
    );
  // Not every service with this interface makes every format.
  const tolerant = { alsoRead: [400, 415, 422, 501] };
  if (format === "ogg") {
    const opus = await ask("opus", tolerant);
    if (opus !== "refused" && isOggOpus(opus.bytes)) return { mimeType: OGG, bytes: opus.bytes };
    const wav = await ask("wav", tolerant);
    if (wav !== "refused" && readWav(wav.bytes)) return { mimeType: WAV, bytes: wav.bytes };
    // What it made in place of them can be played, too.
    if (opus !== "refused") return opus;
  }
  return (await ask(format === "wav" ? "wav" : "mp3")) as SpokenText;
}

/** Not every service names the type of what it was asked for; JSON or a page is no speech, whatever its status. */
function audioOf({ headers, bytes, truncated }: FetchResult): SpokenText | undefined {
  if (truncated) throw new SvcError("SPEECH_FAILED", "The speech is too large.", { hint: TOO_LONG });
  if (bytes.byteLength === 0) return undefined;
  const type = (headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
  if (type.startsWith("audio/")) return { mimeType: type === "audio/mp3" ? MP3 : type, bytes };
  return type === "" || type === "application/octet-stream" ? { mimeType: MP3, bytes } : undefined;
}

/** What is neither WAV nor Ogg Opus stays as it is: it is shown as a sound file. */
async function asVoiceNote(spoken: SpokenText, signal: AbortSignal): Promise<SpokenText> {
  const sound = spoken.mimeType === WAV ? readWav(spoken.bytes) : undefined;
  return sound ? { mimeType: OGG, bytes: await oggOpusOf(sound, signal) } : spoken;
}

// An answer that goes out as speech, behind the same words as text. It is spoken when its turn to be sent has come, so that no text waits
// for a voice; what was spoken is kept for the next try, and spoken anew after a restart only.

/** Makes speech of a text. Throws SPEECH_FAILED. */
type SpeakAnswer = (text: string, signal: AbortSignal, format: SpeechFormat) => Promise<SpokenText>;

/** Answers whose platform was away when they had been spoken. */
const MOST_KEPT = 16;

export class SpokenAnswers {
  readonly #speak: SpeakAnswer;
  /** By delivery. */
  readonly #spokenTexts = new Map<number, SpokenText>();

  constructor(speak: SpeakAnswer) {
    this.#speak = speak;
  }

  /** Throws SPEECH_FAILED; an abort with the signal's reason. */
  async fileOf(
    n: number,
    { kind, speak }: StoredFile,
    media: Channel["media"],
    signal: AbortSignal,
  ): Promise<OutgoingFile> {
    const { mimeType, bytes } = this.#spokenTexts.get(n) ?? (await this.#spoken(speak ?? "", media, signal));
    if (bytes.byteLength > (media?.maxBytes ?? 0)) {
      throw new SvcError("SPEECH_FAILED", "The spoken answer is larger than this channel takes.");
    }
    this.#keep(n, { mimeType, bytes });
    return { kind, name: `answer.${EXTENSIONS[mimeType] ?? "mp3"}`, mimeType, read: async () => bytes };
  }

  /** It is over. */
  forget(n: number): void {
    this.#spokenTexts.delete(n);
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
    this.#spokenTexts.delete(n);
    this.#spokenTexts.set(n, spoken);
    for (const oldest of this.#spokenTexts.keys())
      if (this.#spokenTexts.size > MOST_KEPT) this.#spokenTexts.delete(oldest);
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

/** Uses of a speech service at the same time: each has its recording in memory, twice. */
const AT_ONCE = 8;

export class SpeechPermits {
  readonly #permits = new Semaphore(AT_ONCE);

  /** Runs `work` when there is a permit. Rejects with the signal's reason when it is aborted. */
  whenFree<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#permits.run(work, signal);
  }
}
