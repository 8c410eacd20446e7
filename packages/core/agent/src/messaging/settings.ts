/** What a config says of messages: which channels there are, who answers, whom the agent may write to, how often is tried again. */
import type { Channel } from "@svc/contract";

export interface MessagingSettings {
  /** Channels in service, by id. */
  readonly channels: ReadonlyMap<string, Channel>;
  /** Whether deliveries of it are tried; a channel that gave up keeps them waiting. */
  readonly isUp: (channel: string) => boolean;
  /** The agent that a channel's section names. */
  readonly agentOf: (channel: string) => string | undefined;
  /** Whom the agent may write to there with `channel_send`. */
  readonly targetsOf: (channel: string) => ChannelTargets;
  /** Of a delivery whose platform does not take it, and of a message while the model is down. */
  readonly maxAttempts: number;
  readonly maxParallelTurns: number;
  readonly transcription: TranscriptionSettings | undefined;
  readonly speech: SpeechSettings | undefined;
  /** Which answers of a channel are spoken, too. */
  readonly spokenAnswers: (channel: string) => SpokenReply;
}

/** `voice`: those to messages that came as a recording. */
export type SpokenReply = "never" | "voice" | "always";

/** As the channel's section names them. */
export interface ChannelTargets {
  /** `allowed_targets`; `*` is any. */
  readonly allowed: readonly string[];
  /** `notification_target`. */
  readonly notification: string | undefined;
}

export interface TranscriptionSettings {
  /** A program and its arguments in place of the service; `{file}` is the recording, `{wav}` the same as WAV. */
  readonly command?: readonly [string, ...string[]] | undefined;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  readonly language: string | undefined;
  readonly maxBytes: number;
}

export interface SpeechSettings {
  /** A program and its arguments in place of the service; it reads the text, or finds it in `{text}`. */
  readonly command?: readonly [string, ...string[]] | undefined;
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** As the service names it. */
  readonly voice: string;
  /** Of what is sent to it; the rest of a longer text is not spoken. */
  readonly maxChars: number;
  /** On the loudspeaker of this machine, too, where a channel has one. */
  readonly play?: boolean;
}
