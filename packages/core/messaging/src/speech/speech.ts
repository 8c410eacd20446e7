/** `FeatureContext.speech`: speech to text and back, by the settings in force when it is asked. */
import { type FetchResult, type Speech, type SpeechFormat, type SpokenText, SvcError } from "@svc/contract";
import type { MessagingSettings, SpeechSettings } from "../types.ts";
import { type SpeechDeps, type SpeechQuestion, type SpeechService, askService } from "./ask-service.ts";
import { SpeechPlaces } from "./places.ts";
import { transcribe } from "./transcribe.ts";
import { splitText } from "@svc/kit";
import { isOggOpus, oggOpusOf, readWav } from "@svc/kit/audio";
import { useProgram, usesFile } from "./program.ts";

export interface SpeechOptions extends Omit<SpeechDeps, "signal"> {
  readonly settings: () => Pick<MessagingSettings, "transcription" | "speech">;
  /** Shared with whoever else has recordings transcribed. */
  readonly transcriber: SpeechPlaces;
}

export function createSpeech({ settings, transcriber, ...way }: SpeechOptions): Speech {
  const speaker = new SpeechPlaces();
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
  parts: SpeechDeps,
  settings: SpeechSettings,
  text: string,
  format: SpeechFormat = "any",
): Promise<SpokenText> {
  const [input] = splitText(text, settings.maxChars);
  if (input === undefined) throw new SvcError("SPEECH_FAILED", "There is nothing to say.");
  const spoken = settings.command
    ? await spokenByProgram(parts, settings.command, input)
    : await spokenByService(parts, settings, input, format);
  return format === "ogg" ? asVoiceNote(spoken, parts.signal) : spoken;
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
  parts: SpeechDeps,
  { baseUrl, apiKey, model, voice }: SpeechSettings,
  input: string,
  format: SpeechFormat,
): Promise<SpokenText> {
  const ask = (as: "mp3" | "opus" | "wav", more: Partial<SpeechQuestion> = {}): Promise<SpokenText | "refused"> =>
    askService(
      parts,
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
  const told = (headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
  if (told.startsWith("audio/")) return { mimeType: told === "audio/mp3" ? MP3 : told, bytes };
  return told === "" || told === "application/octet-stream" ? { mimeType: MP3, bytes } : undefined;
}

/** What is neither WAV nor Ogg Opus stays as it is: it is shown as a sound file. */
async function asVoiceNote(spoken: SpokenText, signal: AbortSignal): Promise<SpokenText> {
  const sound = spoken.mimeType === WAV ? readWav(spoken.bytes) : undefined;
  return sound ? { mimeType: OGG, bytes: await oggOpusOf(sound, signal) } : spoken;
}
