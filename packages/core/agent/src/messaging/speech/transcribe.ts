/** A recording as text, by a service that speaks OpenAI's `POST /audio/transcriptions`. */
import { type FetchResult, type Recording, SvcError } from "@svc/contract";
import { multipart, parseJson } from "@svc/kit";
import type { TranscriptionSettings } from "../types.ts";
import { askService, type SpeechParts, type SpeechService } from "./ask-service.ts";

const SERVICE: SpeechService = { code: "TRANSCRIPTION_FAILED", does: "transcribes", section: "transcription" };
const TIMEOUT_MS = 120_000;
/** Hours of talk. */
const MAX_ANSWER_BYTES = 4 * 1_048_576;

/** Blank when nothing is said in it. Throws TRANSCRIPTION_FAILED; an abort with the signal's reason. */
export async function transcribe(
  parts: SpeechParts,
  { baseUrl, apiKey, model, language, maxBytes }: TranscriptionSettings,
  { name, mimeType, bytes }: Recording,
): Promise<string> {
  if (bytes.byteLength > maxBytes) throw tooLarge();
  const fields = { model, response_format: "json", ...(language !== undefined && { language }) };
  const form = await multipart(fields, [{ field: "file", name, mimeType, bytes }]);
  const url = `${baseUrl}/audio/transcriptions`;
  const question = { url, apiKey, ...form, maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS };
  return askService(parts, SERVICE, question, textOf);
}

/** What the model is told of a recording. */
export const transcriptText = (text: string): string =>
  text === "" ? "(Nothing is said in this recording.)" : `Transcript of this recording: ${text}`;
export const NOT_TRANSCRIBED = "(This recording could not be transcribed.)";

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
