/** A recording as text, by a program of this machine, or by a service that speaks OpenAI's `POST /audio/transcriptions`. */
import { type FetchResult, type Recording, SvcError } from "@svc/contract";
import { multipart, parseJson } from "@svc/kit";
import { isOggOpus, readOggOpus, readWav, resampled, wavOf } from "@svc/kit/audio";
import type { TranscriptionSettings } from "../types.ts";
import { type SpeechDeps, type SpeechService, askService, useProgram, usesFile } from "./backends.ts";

const SERVICE: SpeechService = { code: "TRANSCRIPTION_FAILED", does: "transcribes", section: "transcription" };
const TIMEOUT_MS = 120_000;
/** A small machine takes longer than somebody spoke. */
const PROGRAM_TIMEOUT_MS = 600_000;
/** Hours of talk. */
const MAX_ANSWER_BYTES = 4 * 1_048_576;
/** What speech programs are made for. */
const WAV_RATE = 16_000;
const MAX_WAV_SECS = 3_600;

/** Blank when nothing is said in it. Throws TRANSCRIPTION_FAILED; an abort with the signal's reason. */
export async function transcribe(
  deps: SpeechDeps,
  settings: TranscriptionSettings,
  recording: Recording,
): Promise<string> {
  if (recording.bytes.byteLength > settings.maxBytes) throw tooLarge();
  if (settings.command) return transcribedByProgram(deps, settings.command, recording);
  const { baseUrl, apiKey, model, language } = settings;
  const { name, mimeType, bytes } = recording;
  const fields = { model, response_format: "json", ...(language !== undefined && { language }) };
  const form = await multipart(fields, [{ field: "file", name, mimeType, bytes }]);
  const url = `${baseUrl}/audio/transcriptions`;
  const question = { url, apiKey, ...form, maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS };
  return askService(deps, SERVICE, question, textOf);
}

async function transcribedByProgram(
  { runProgram, signal }: SpeechDeps,
  command: readonly [string, ...string[]],
  { name, bytes }: Recording,
): Promise<string> {
  const [extension = ""] = /\.[A-Za-z0-9]{1,8}$/.exec(name) ?? [];
  const { stdout } = await useProgram(runProgram, SERVICE, {
    command,
    files: {
      ...(usesFile(command, "file") && { file: { name: `recording${extension}`, bytes } }),
      ...(usesFile(command, "wav") && { wav: { name: "recording.wav", bytes: await asWav(bytes, signal) } }),
    },
    timeoutMs: PROGRAM_TIMEOUT_MS,
    maxOutputBytes: MAX_ANSWER_BYTES,
    signal,
  });
  const lines = stdout.split("\n").map((line) => line.replaceAll(SILENCE, "").trim());
  return lines.filter((line) => line !== "").join("\n");
}

/** How whisper.cpp writes that nothing is said. */
const SILENCE = /\[BLANK_AUDIO\]/g;

/** One channel of 16-bit samples at 16 000 Hz. Throws TRANSCRIPTION_FAILED for what can't be made so without a program. */
async function asWav(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  const sound = isOggOpus(bytes)
    ? await readOggOpus(bytes, { sampleRate: WAV_RATE, maxSecs: MAX_WAV_SECS }, signal)
    : readWav(bytes);
  if (sound && sound.samples.length > sound.sampleRate * MAX_WAV_SECS) {
    throw new SvcError("TRANSCRIPTION_FAILED", "The recording is too long.");
  }
  if (sound) return wavOf(await resampled(sound, WAV_RATE, signal));
  throw new SvcError("TRANSCRIPTION_FAILED", "This recording is neither WAV nor Ogg Opus, and {wav} takes no other.", {
    hint: "Use {file} in transcription.command, with a program that reads every format.",
  });
}

export const tooLarge = (): SvcError =>
  new SvcError("TRANSCRIPTION_FAILED", "The recording is larger than transcription.max_bytes.");

function textOf({ bytes, truncated }: FetchResult): string | undefined {
  const answer = truncated ? undefined : parseJson(bytes);
  const text =
    typeof answer === "object" && answer !== null && !Array.isArray(answer)
      ? (answer as { text?: unknown }).text
      : undefined;
  return typeof text === "string" ? text.trim() : undefined;
}
