/** `FeatureContext.speech`: speech to text and back, by the settings in force when it is asked. */
import { type Speech, SvcError } from "@svc/contract";
import type { MessagingSettings } from "../types.ts";
import type { SpeechParts } from "./ask-service.ts";
import { SpeechPlaces } from "./places.ts";
import { speak } from "./speak.ts";
import { transcribe } from "./transcribe.ts";

export interface SpeechOptions extends Omit<SpeechParts, "signal"> {
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
