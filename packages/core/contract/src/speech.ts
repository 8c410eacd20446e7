/** Speech to text and back, by the services of `[transcription]` and `[tts]`. */
export interface Speech {
  readonly canTranscribe: boolean;
  readonly canSpeak: boolean;
  /** `[tts] play`: answers are to be heard where there is a loudspeaker of this machine. */
  readonly plays: boolean;
  /** Blank when nothing is said in it. Throws CHANNEL_CANNOT while `[transcription]` is off, TRANSCRIPTION_FAILED. */
  transcribe(recording: Recording, signal: AbortSignal): Promise<string>;
  /** Throws CHANNEL_CANNOT while `[tts]` is off, SPEECH_FAILED. */
  speak(text: string, signal: AbortSignal, format?: SpeechFormat): Promise<SpokenText>;
}

/** `ogg`: Ogg Opus where that can be had, which platforms play as a voice note. `wav`: samples that can be played as they are. */
export type SpeechFormat = "any" | "ogg" | "wav";

export interface Recording {
  readonly name: string;
  /** `type/subtype`. */
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

export interface SpokenText {
  /** `type/subtype`. */
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}
