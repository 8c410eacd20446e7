/** Speech to text and back, by the services of `[transcription]` and `[tts]`. */
export interface Speech {
  readonly canTranscribe: boolean;
  readonly canSpeak: boolean;
  /** Blank when nothing is said in it. Throws CHANNEL_CANNOT while `[transcription]` is off, TRANSCRIPTION_FAILED. */
  transcribe(recording: Recording, signal: AbortSignal): Promise<string>;
  /** Throws CHANNEL_CANNOT while `[tts]` is off, SPEECH_FAILED. */
  speak(text: string, signal: AbortSignal): Promise<SpokenText>;
}

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
