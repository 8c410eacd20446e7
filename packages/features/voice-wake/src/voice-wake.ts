/**
 * The channel: what the microphone hears behind the wake word is a message, and its answer goes nowhere, or is spoken on the
 * loudspeaker of this machine where `[tts] play` is on.
 */
import { type Contributions, type FeatureContext, SvcError, type VoiceState } from "@svc/contract";
import { readWav, wavOf } from "@svc/kit/audio";
import { speakableOf } from "@svc/kit/markdown";
import * as v from "valibot";
import { CHANNEL, type Config } from "./config.ts";
import { type Action, SAMPLE_RATE, WakeEngine } from "./engine.ts";
import { framesOf, play, type Recording } from "./programs.ts";

const CONVERSATION = { channel: CHANNEL, id: "microphone" };
const SENDER = "microphone";
/** The room still has it in the air. */
const ECHO_MS = 400;
/** Answers that wait to be spoken. */
const MOST_SPOKEN = 8;
const CHECK_FRAMES = 10;

export function create(context: FeatureContext<Config>): Contributions {
  const { config } = context;
  const microphone = new Microphone(context);
  const speaker = new Speaker(context);
  return {
    channel: {
      async send({ text }) {
        speaker.say(text);
        return {};
      },
      async check(signal) {
        let frames = 0;
        for await (const _ of framesOf({ ...recordingOf(context), signal })) {
          frames += 1;
          if (frames >= CHECK_FRAMES) return `the microphone ${config.device ?? "of the system"}`;
        }
        signal.throwIfAborted();
        throw new SvcError("CHANNEL_DOWN", "The microphone gives no sound.");
      },
    },
    routes: [
      {
        method: "GET",
        path: "/api/voice-wake",
        doc: {
          summary: "Returns the state of the microphone and the cost of the last hour.",
          answers: { 200: { description: "The microphone.", body: REPORT } },
        },
        handle: async () => ({ status: 200, body: microphone.report() }),
      },
    ],
    run: (signal) => microphone.run(signal, () => speaker.isHeard),
    async shutdown() {
      speaker.stop();
    },
  };
}

const recordingOf = ({ config: { device, recorder }, clock }: FeatureContext<Config>): Omit<Recording, "signal"> => ({
  device,
  recorder,
  clock,
});

class Microphone {
  readonly #context: FeatureContext<Config>;
  #engine: WakeEngine | undefined;
  #dispatched = 0;

  constructor(context: FeatureContext<Config>) {
    this.#context = context;
  }

  report() {
    const { config } = this.#context;
    const { transcriptions, costUsd } = this.#usage();
    return {
      channel: CHANNEL,
      state: this.#engine?.state ?? "stopped",
      transcriptions,
      limit: config.max_transcriptions_per_hour,
      cost_usd: costUsd ?? null,
      dispatched: this.#dispatched,
      device: config.device ?? null,
    };
  }

  /** `isOurs`: whether the microphone hears our own speech now. */
  async run(signal: AbortSignal, isOurs: () => boolean): Promise<void> {
    const { config } = this.#context;
    const engine = new WakeEngine({
      wakeWord: config.wake_word,
      silenceMs: config.silence_timeout_ms,
      energyThreshold: config.energy_threshold,
      maxCaptureMs: config.max_capture_secs * 1_000,
      maxPerHour: config.max_transcriptions_per_hour,
    });
    try {
      for await (const frame of framesOf({ ...recordingOf(this.#context), signal })) {
        if (!this.#engine) {
          this.#engine = engine;
          this.#tell(engine.state);
        }
        await this.#act(engine.push(frame, isOurs()), engine, signal);
      }
    } finally {
      this.#engine = undefined;
      this.#tell("stopped");
    }
  }

  #usage(): { readonly transcriptions: number; readonly costUsd: number | undefined } {
    const { transcriptions, secs } = this.#engine?.usage ?? { transcriptions: 0, secs: 0 };
    const price = this.#context.config.price_per_minute;
    return { transcriptions, costUsd: price === undefined ? undefined : Math.round((secs / 60) * price * 1e6) / 1e6 };
  }

  #tell(state: VoiceState): void {
    const { config, publish } = this.#context;
    publish({
      type: "voice-state",
      channel: CHANNEL,
      state,
      limit: config.max_transcriptions_per_hour,
      ...this.#usage(),
    });
  }

  async #act(actions: readonly Action[], engine: WakeEngine, signal: AbortSignal): Promise<void> {
    const { clock, log, receive } = this.#context;
    for (const action of actions) {
      if (action.kind === "state") this.#tell(action.state);
      else if (action.kind === "lost") log.warn("speech was not transcribed", { reason: action.why });
      else if (action.kind === "transcribe") void this.#transcribe(action, engine, signal);
      else {
        this.#dispatched += 1;
        log.info("a command was heard", { characters: action.text.length });
        await receive([{ conversation: CONVERSATION, sender: SENDER, text: action.text, sentAtMs: clock.now() }]);
      }
    }
  }

  /** Never rejects: a command that can't be kept is logged, and the microphone goes on. */
  async #transcribe(
    { id, samples }: { readonly id: number; readonly samples: Int16Array },
    engine: WakeEngine,
    signal: AbortSignal,
  ): Promise<void> {
    const { log, speech } = this.#context;
    let text: string | undefined;
    try {
      const bytes = wavOf({ sampleRate: SAMPLE_RATE, samples });
      text = await speech.transcribe({ name: "microphone.wav", mimeType: "audio/wav", bytes }, signal);
    } catch (error) {
      if (signal.aborted) return;
      log.warn("what the microphone heard could not be transcribed", { code: codeOf(error) });
    }
    await this.#act(engine.transcribed(id, text), engine, signal).catch((error: unknown) => {
      log.error("a command could not be kept", { code: codeOf(error) });
    });
  }
}

/** Speaks answers one after the other. Answers that are unspoken when the daemon stops are in the conversation. */
class Speaker {
  readonly #context: FeatureContext<Config>;
  readonly #waiting: string[] = [];
  readonly #stopping = new AbortController();
  #isSpeaking = false;
  #heardUntilMs = 0;

  constructor(context: FeatureContext<Config>) {
    this.#context = context;
  }

  /** The microphone hears it. */
  get isHeard(): boolean {
    return this.#context.clock.monotonic() < this.#heardUntilMs;
  }

  /** Does nothing where `[tts] play` is off. */
  say(text: string): void {
    const { speech } = this.#context;
    if (!speech.canSpeak || !speech.plays || this.#waiting.length >= MOST_SPOKEN) return;
    const words = speakableOf(text);
    if (words === "") return;
    this.#waiting.push(words);
    if (!this.#isSpeaking) void this.#speakAll();
  }

  stop(): void {
    this.#stopping.abort(new SvcError("DRAINING"));
  }

  async #speakAll(): Promise<void> {
    const { clock, log, speech } = this.#context;
    const { signal } = this.#stopping;
    this.#isSpeaking = true;
    for (let text = this.#waiting.shift(); text !== undefined && !signal.aborted; text = this.#waiting.shift()) {
      try {
        const { bytes } = await speech.speak(text, signal, "wav");
        const sound = readWav(bytes);
        if (!sound) throw new SvcError("SPEECH_FAILED", "What [tts] made can't be played: it is no WAV.");
        this.#heardUntilMs = Number.POSITIVE_INFINITY;
        await play(sound, signal);
      } catch (error) {
        if (!signal.aborted)
          log.warn("an answer could not be spoken", { code: codeOf(error), reason: reasonOf(error) });
      }
      this.#heardUntilMs = clock.monotonic() + ECHO_MS;
    }
    this.#isSpeaking = false;
  }
}

const REPORT = v.object({
  channel: v.string(),
  state: v.picklist(["listening", "triggered", "capturing", "processing", "stopped"]),
  transcriptions: v.pipe(v.number(), v.description("Of the last hour.")),
  limit: v.pipe(v.number(), v.description("The most there may be in an hour.")),
  cost_usd: v.nullable(v.pipe(v.number(), v.description("Of the last hour; null without price_per_minute."))),
  dispatched: v.pipe(v.number(), v.description("Commands since the channel was made.")),
  device: v.nullable(v.string()),
});

const codeOf = (error: unknown): string => (error instanceof SvcError ? error.code : "INTERNAL");
const reasonOf = (error: unknown): string => (error instanceof SvcError ? error.message : "unexpected error");
