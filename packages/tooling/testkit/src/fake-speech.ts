/** `FeatureContext.speech` in this process: what is said is the bytes of the text, and back. */
import { type Speech, SvcError } from "@svc/contract";

/** `can`: what the config turns on. Default: nothing. */
export function fakeSpeech(can: { readonly transcribe?: boolean; readonly speak?: boolean } = {}): Speech {
  const { transcribe = false, speak = false } = can;
  const demand = (isOn: boolean): void => {
    if (!isOn) throw new SvcError("CHANNEL_CANNOT", "This test has no speech.");
  };
  return {
    canTranscribe: transcribe,
    canSpeak: speak,
    plays: speak,
    async transcribe({ bytes }) {
      demand(transcribe);
      return Buffer.from(bytes).toString("utf8");
    },
    async speak(text) {
      demand(speak);
      return { mimeType: "audio/mpeg", bytes: Buffer.from(text) };
    },
  };
}
