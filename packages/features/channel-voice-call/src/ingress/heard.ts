/** What a caller said, as words, as a recording, or as a key. https://www.twilio.com/docs/voice/twiml/gather#action */
import { type Inbound, trimEndOf } from "@svc/contract";
import type { Config } from "../config.ts";
import type { Webhook } from "./webhook.ts";

type Heard = Pick<Inbound, "text" | "media" | "choice">;

/** Undefined: nothing that could be answered. */
export function heardOf({ place, field }: Webhook, recognizer: Config["recognizer"]): Heard | undefined {
  const { ask } = place;
  const key = field("Digits");
  if (ask && (key === "1" || key === "2")) {
    const approved = key === "1";
    return { text: approved ? ask.approve : ask.reject, choice: { prompt: ask.prompt, approved } };
  }
  const recording = field("RecordingSid") ?? "";
  if (recognizer === "transcription" && RECORDING_SID.test(recording)) return recorded(recording);
  const said = field("SpeechResult");
  return said === undefined ? undefined : { text: wordsOf(said) };
}

export const RECORDING_SID = /^RE[0-9a-fA-F]{32}$/;

const recorded = (ref: string): Heard => {
  const placeholder = "[audio]";
  return { text: placeholder, media: [{ kind: "audio", ref, placeholder, mimeType: "audio/mpeg" }] };
};

/**
 * Recognisers put marks where they like: "Yes." and "No, thanks." begin with yes and no to whoever compares them with a keyword.
 */
function wordsOf(said: string): string {
  const words = said.replace(/^([\p{L}\p{N}]+)[.,!;:…。，！]+(?=\s|$)/u, "$1");
  return words.split(/\s+/).length > FEW_WORDS ? words : trimEndOf(words, ".!…。！");
}

const FEW_WORDS = 4;
