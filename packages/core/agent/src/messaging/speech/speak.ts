/**
 * A text as speech, by a service that speaks OpenAI's `POST /audio/speech`
 * (https://platform.openai.com/docs/api-reference/audio/createSpeech).
 */
import { type FetchResult, type SpokenText, SvcError } from "@svc/contract";
import { splitText } from "@svc/kit";
import type { SpeechSettings } from "../types.ts";
import { askService, type SpeechParts, type SpeechService } from "./ask-service.ts";

const SERVICE: SpeechService = { code: "SPEECH_FAILED", does: "speaks", section: "tts" };
const TIMEOUT_MS = 60_000;
/** Twenty minutes at 160 kbit/s. */
const MAX_AUDIO_BYTES = 24 * 1_048_576;
const TOO_LONG = "Set tts.max_chars to less.";
const MP3 = "audio/mpeg";

/**
 * Of a text longer than `maxChars` its beginning, up to the end of a sentence. Throws SPEECH_FAILED; an abort with the
 * signal's reason.
 */
export async function speak(
  parts: SpeechParts,
  { baseUrl, apiKey, model, voice, maxChars }: SpeechSettings,
  text: string,
): Promise<SpokenText> {
  const [input] = splitText(text, maxChars);
  if (input === undefined) throw new SvcError("SPEECH_FAILED", "There is nothing to say.");
  const question = {
    url: `${baseUrl}/audio/speech`,
    apiKey,
    contentType: "application/json",
    body: JSON.stringify({ model, voice, input, response_format: "mp3" }),
    maxBytes: MAX_AUDIO_BYTES,
    timeoutMs: TIMEOUT_MS,
  };
  return askService(parts, SERVICE, question, audioOf);
}

/** Not every service names the type of what it was asked for; JSON or a page is no speech, whatever its status. */
function audioOf({ headers, bytes, truncated }: FetchResult): SpokenText | undefined {
  if (truncated) throw new SvcError("SPEECH_FAILED", "The speech is larger than 24 MiB.", { hint: TOO_LONG });
  if (bytes.byteLength === 0) return undefined;
  const told = (headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
  if (told.startsWith("audio/")) return { mimeType: told === "audio/mp3" ? MP3 : told, bytes };
  return told === "" || told === "application/octet-stream" ? { mimeType: MP3, bytes } : undefined;
}
