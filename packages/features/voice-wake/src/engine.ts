/**
 * From samples to commands. Pure: it is pushed frames and told what was transcribed, and says what to do; its time is that of the
 * sound, so that nothing depends on how fast it comes.
 * A segment is the speech between two silences. Its beginning, or all of it, is searched for the wake word; then it is dispatched.
 */
import type { VoiceState } from "@svc/contract";

export const SAMPLE_RATE = 16_000;
export const FRAME_SAMPLES = 480;
const FRAME_MS = (FRAME_SAMPLES / SAMPLE_RATE) * 1_000;

/** Audio kept from before speech was detected: the first sound of a word is often quiet. */
const PRE_ROLL_MS = 600;
/** How much of it is transcribed to look for the wake word. */
const CHECK_MS = 2_500;
/** Between two words. */
const PAUSE_MS = 300;
/** After the wake word alone. */
const FOLLOW_UP_MS = 8_000;
/** Loud frames that begin speech, among the last of these. */
const ONSET_FRAMES = 3;
const ONSET_WINDOW = 6;
/** A click or a cough is no word. */
const LEAST_SPEECH_MS = 150;
/** How long the noise of a room is remembered. */
const NOISE_WINDOW_MS = 3_000;
/** Speech is so much louder than the noise, and ends where it is not so much any more. */
const ABOVE_NOISE = 2.2;
const STILL_ABOVE_NOISE = 1.6;
/** Speech during this time is lost. */
const MOST_WAITING = 8;
const HOUR_MS = 3_600_000;

export interface EngineOptions {
  readonly wakeWord: string;
  readonly silenceMs: number;
  readonly energyThreshold: number;
  readonly maxCaptureMs: number;
  readonly maxPerHour: number;
}

export type Action =
  | { readonly kind: "transcribe"; readonly id: number; readonly samples: Int16Array }
  | { readonly kind: "dispatch"; readonly text: string }
  /** Said while too much was waiting, or the hour's transcriptions were used up. */
  | { readonly kind: "lost"; readonly why: "busy" | "limit" }
  | { readonly kind: "state"; readonly state: VoiceState };

interface Segment {
  readonly id: number;
  readonly startMs: number;
  /** The noise that it began in: a voice without a pause is not to be taken for noise. */
  readonly noise: number;
  frames: Int16Array[];
  /** Including what was let go of. */
  lengthMs: number;
  speechMs: number;
  quietMs: number;
  isOver: boolean;
  /** Its wake word was in the segment before. */
  isFollowUp: boolean;
  verdict: "unknown" | "asked" | "wake" | "none";
}

interface Job {
  readonly id: number;
  readonly segment: Segment;
  readonly samples: Int16Array;
  /** All of the segment, not its beginning. */
  readonly isWhole: boolean;
}

export class WakeEngine {
  readonly #options: EngineOptions;
  readonly #wakeWord: string;
  readonly #noise = new NoiseFloor(NOISE_WINDOW_MS / FRAME_MS);
  readonly #preRoll: Int16Array[] = [];
  readonly #onset: boolean[] = [];
  readonly #queue: Job[] = [];
  /** Milliseconds of sound when each was begun. */
  readonly #begun: { readonly atMs: number; readonly secs: number }[] = [];
  #soundMs = 0;
  #segment: Segment | undefined;
  #running: Job | undefined;
  #armed: { readonly after: number; readonly untilMs: number } | undefined;
  #ids = 0;
  #state: VoiceState = "listening";

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#wakeWord = options.wakeWord.toLowerCase();
  }

  get state(): VoiceState {
    return this.#state;
  }

  /** Of the last hour. */
  get usage(): { readonly transcriptions: number; readonly secs: number } {
    this.#forgetOld();
    return { transcriptions: this.#begun.length, secs: this.#begun.reduce((sum, { secs }) => sum + secs, 0) };
  }

  /** RMS that speech has to have now. */
  get threshold(): number {
    return Math.max(this.#options.energyThreshold, this.#noise.level * ABOVE_NOISE);
  }

  /** `FRAME_SAMPLES` samples. `isOurs`: the microphone hears our own speech. */
  push(frame: Int16Array, isOurs = false): Action[] {
    this.#soundMs += FRAME_MS;
    const actions: Action[] = [];
    if (isOurs) this.#deafen();
    else this.#hear(frame, actions);
    return this.#settle(actions);
  }

  /** What the recording says; undefined: that could not be found out. */
  transcribed(id: number, text: string | undefined): Action[] {
    const job = this.#running;
    if (job?.id !== id) return [];
    this.#running = undefined;
    const actions: Action[] = [];
    this.#judge(job, (text ?? "").trim(), actions);
    return this.#settle(actions);
  }

  #deafen(): void {
    this.#segment = undefined;
    this.#preRoll.length = 0;
    this.#onset.length = 0;
  }

  #hear(frame: Int16Array, actions: Action[]): void {
    const level = rmsOf(frame);
    this.#noise.learn(level);
    const segment = this.#segment;
    if (segment) {
      const noise = segment.verdict === "none" ? this.#noise.level : Math.min(this.#noise.level, segment.noise);
      const still = Math.max(this.#options.energyThreshold, noise * STILL_ABOVE_NOISE);
      this.#grow(segment, frame, level >= still, actions);
      return;
    }
    this.#preRoll.push(frame);
    if (this.#preRoll.length * FRAME_MS > PRE_ROLL_MS) this.#preRoll.shift();
    this.#onset.push(level >= this.threshold);
    if (this.#onset.length > ONSET_WINDOW) this.#onset.shift();
    if (this.#onset.filter(Boolean).length < ONSET_FRAMES) return;
    this.#begin();
  }

  #begin(): void {
    const frames = this.#preRoll.splice(0);
    this.#onset.length = 0;
    this.#segment = {
      id: (this.#ids += 1),
      startMs: this.#soundMs - ONSET_FRAMES * FRAME_MS,
      noise: this.#noise.level,
      frames,
      lengthMs: frames.length * FRAME_MS,
      speechMs: ONSET_FRAMES * FRAME_MS,
      quietMs: 0,
      isOver: false,
      isFollowUp: false,
      verdict: "unknown",
    };
    this.#claim(this.#segment);
  }

  /** The first that is said after the wake word alone is the command. */
  #claim(segment: Segment): void {
    if (!this.#armed || segment.id <= this.#armed.after) return;
    if (segment.startMs <= this.#armed.untilMs) segment.isFollowUp = true;
    this.#armed = undefined;
  }

  #grow(segment: Segment, frame: Int16Array, isLoud: boolean, actions: Action[]): void {
    segment.lengthMs += FRAME_MS;
    // The segment is rejected: its frames are no longer needed.
    if (segment.verdict === "none") segment.frames = [];
    else segment.frames.push(frame);
    segment.quietMs = isLoud ? 0 : segment.quietMs + FRAME_MS;
    if (isLoud) segment.speechMs += FRAME_MS;
    const isFull = segment.lengthMs + FRAME_MS > this.#options.maxCaptureMs;
    if (segment.quietMs >= this.#options.silenceMs || isFull) this.#end(segment, actions);
    else if (segment.verdict === "unknown" && !segment.isFollowUp && segment.lengthMs >= CHECK_MS) {
      // What seems to be over is soon known as a whole.
      if (segment.quietMs > PAUSE_MS) return;
      segment.verdict = "asked";
      this.#ask(segment, false, actions);
    }
  }

  #end(segment: Segment, actions: Action[]): void {
    segment.isOver = true;
    this.#segment = undefined;
    const isSpeech = segment.speechMs >= LEAST_SPEECH_MS;
    const isWanted = segment.isFollowUp || segment.verdict === "wake" || segment.verdict === "unknown";
    if (isSpeech && isWanted) this.#ask(segment, true, actions);
  }

  #ask(segment: Segment, isWhole: boolean, actions: Action[]): void {
    if (this.#queue.length >= MOST_WAITING) {
      segment.verdict = "none";
      actions.push({ kind: "lost", why: "busy" });
      return;
    }
    const samples = joined(segment.frames);
    this.#queue.push({ id: (this.#ids += 1), segment, samples, isWhole });
  }

  #judge({ segment, isWhole }: Job, text: string, actions: Action[]): void {
    const at = text.toLowerCase().indexOf(this.#wakeWord);
    const isWake = at >= 0;
    const command = withoutMarks(isWake ? text.slice(at + this.#wakeWord.length) : text);
    if (segment.isFollowUp || segment.verdict === "wake") {
      // A whole segment: the wake word, if it is in it, has been heard before.
      const said = segment.isFollowUp && !isWake ? withoutMarks(text) : command;
      if (said !== "") actions.push({ kind: "dispatch", text: said });
      else if (isWake) this.#arm(segment);
      return;
    }
    if (!isWake) {
      segment.verdict = "none";
      segment.frames = [];
      return;
    }
    segment.verdict = "wake";
    if (isWhole) {
      if (command !== "") actions.push({ kind: "dispatch", text: command });
      else this.#arm(segment);
    } else if (segment.isOver) this.#ask(segment, true, actions);
  }

  /** What was begun to be said meanwhile counts: to find the word took a while. */
  #arm(segment: Segment): void {
    this.#armed = { after: segment.id, untilMs: segment.startMs + segment.lengthMs + FOLLOW_UP_MS };
    const next = this.#queue.find((job) => job.segment.id > segment.id)?.segment ?? this.#segment;
    if (!next || next.id <= segment.id) return;
    this.#claim(next);
    if (!next.isFollowUp || next.isOver) return;
    // Its beginning need not be looked at.
    const check = this.#queue.findIndex((job) => job.segment === next && !job.isWhole);
    if (check >= 0) this.#queue.splice(check, 1);
    next.verdict = "unknown";
  }

  #settle(actions: Action[]): Action[] {
    if (this.#armed && this.#soundMs > this.#armed.untilMs && !this.#segment) this.#armed = undefined;
    this.#startNext(actions);
    const state = this.#stateNow();
    if (state !== this.#state) {
      this.#state = state;
      actions.push({ kind: "state", state });
    }
    return actions;
  }

  /** One at a time. */
  #startNext(actions: Action[]): void {
    while (!this.#running && this.#queue.length > 0) {
      const job = this.#queue.shift()!;
      // A follow-up that was looked at as a beginning before it was known to be one.
      if (job.segment.isFollowUp && !job.isWhole) {
        job.segment.verdict = "unknown";
        if (job.segment.isOver) this.#ask(job.segment, true, actions);
        continue;
      }
      this.#forgetOld();
      if (this.#begun.length >= this.#options.maxPerHour) {
        job.segment.verdict = "none";
        actions.push({ kind: "lost", why: "limit" });
        continue;
      }
      this.#begun.push({ atMs: this.#soundMs, secs: job.samples.length / SAMPLE_RATE });
      this.#running = job;
      actions.push({ kind: "transcribe", id: job.id, samples: job.samples });
    }
  }

  #forgetOld(): void {
    while (this.#begun.length > 0 && this.#soundMs - this.#begun[0]!.atMs >= HOUR_MS) this.#begun.shift();
  }

  #stateNow(): VoiceState {
    if (this.#segment && (this.#segment.isFollowUp || this.#segment.verdict === "wake")) return "capturing";
    if (this.#running) return "processing";
    return this.#armed ? "triggered" : "listening";
  }
}

/** What stands between the wake word and the command, and alone says nothing. */
const withoutMarks = (text: string): string => {
  const begins = /[\p{L}\p{N}]/u.exec(text)?.index;
  return begins === undefined ? "" : text.slice(begins).trim();
};

/** The background level of a room: the quietest moments of the last seconds, such as pauses between words. */
class NoiseFloor {
  readonly #window: number;
  readonly #levels: number[] = [];
  #smoothed = 0;

  /** `window`: in frames. */
  constructor(window: number) {
    this.#window = window;
  }

  get level(): number {
    return this.#levels.length === 0 ? 0 : Math.min(...this.#levels);
  }

  /** The RMS of one frame; a single quiet one is no floor. */
  learn(level: number): void {
    this.#smoothed = this.#levels.length === 0 ? level : this.#smoothed * 0.6 + level * 0.4;
    this.#levels.push(this.#smoothed);
    if (this.#levels.length > this.#window) this.#levels.shift();
  }
}

// Samples of 16 bits.

/** Loudness; 1 is the loudest. */
export function rmsOf(frame: Int16Array): number {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, frame.length)) / 32_768;
}

/** One after the other. */
function joined(frames: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(frames.reduce((sum, frame) => sum + frame.length, 0));
  let at = 0;
  for (const frame of frames) {
    all.set(frame, at);
    at += frame.length;
  }
  return all;
}
