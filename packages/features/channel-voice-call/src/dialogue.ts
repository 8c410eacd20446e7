/** Decides the platform's next step in a call, from the waiting texts and the silence of caller and agent. */
import { type Call, OVER, type Utterance } from "./calls.ts";
import type { Config } from "./config.ts";
import { type Asked, nextProgress, type Progress } from "./progress.ts";
import type { Documents, Spoken } from "./twiml.ts";

export interface Dialogue {
  greeting(call: Call, nowMs: number): string;
  /** After a pause, after something was said, after silence. */
  goOn(call: Call, nowMs: number): string;
  /** After the caller has said something that an answer is due to. */
  heard(call: Call, nowMs: number): string;
  /** To a webhook that came late: the call has gone on already. */
  late(call: Call, nowMs: number): string;
  /** A document that speaks it. `progress`: the progress of that document. */
  words(person: string, utterance: Utterance, spoken: Spoken, progress: Progress): string;
  /** Where a call is once it was said. */
  progressAfter(progress: Progress, utterance: Utterance, nowMs: number): Progress;
}

export interface DialogueDeps {
  readonly config: Config;
  readonly documents: Documents;
  /** As it is said best at the moment; undefined for a blank one. */
  readonly phrase: (text: string, nowMs: number) => Spoken | undefined;
  /** Whether the agent hears the person. */
  readonly isAllowed: (person: string) => boolean;
}

/** While an answer is due; an update ends the pause. */
const HOLD_SECS = 10;
/** Speech that is being generated is ready soon. */
const SHORT_SECS = 1;
/** Some five minutes: no turn takes longer, unless it waits for a person. */
const MOST_HOLDS = 30;
/** The caller may start to speak; otherwise the next text follows. */
const BETWEEN_PARTS_SECS = 1;

export function dialogue({ config, documents, phrase, isAllowed }: DialogueDeps): Dialogue {
  const { silence_timeout_secs: silenceSecs, filler_after_secs: fillerSecs, max_call_secs: maxSecs } = config;
  const isTooLong = (call: Call, nowMs: number): boolean => nowMs - call.progress.beganMs >= maxSecs * 1000;

  const end = (call: Call, nowMs: number, last = ""): string => {
    call.end(OVER, nowMs);
    return documents.ending(phrase(last, nowMs));
  };

  const hold = (call: Call, progress: Progress, secs: number): string => {
    call.doing = "holding";
    call.progress = progress;
    return documents.holding(progress, secs);
  };

  const listen = (call: Call, progress: Progress, spoken?: Spoken): string => {
    call.doing = "busy";
    call.progress = progress;
    return documents.listening(progress, {
      spoken,
      silenceSecs,
      onSilence: { ...progress, quiet: progress.quiet + 1 },
    });
  };

  const words: Dialogue["words"] = (person, { goesOn }, spoken, progress) => {
    // A caller who may not speak only hears the text.
    if (!isAllowed(person)) return documents.telling(spoken, { ...progress, ask: undefined });
    if (!goesOn) return documents.listening(progress, { spoken, silenceSecs, onSilence: { ...progress, quiet: 1 } });
    if (config.recognizer === "transcription") return documents.telling(spoken, progress);
    return documents.listening(progress, { spoken, silenceSecs: BETWEEN_PARTS_SECS, onSilence: progress });
  };

  const progressAfter: Dialogue["progressAfter"] = (progress, { tag, ask }, nowMs) =>
    nextProgress(progress, nowMs, { said: tag, hold: undefined, quiet: 0, ask });

  /** Undefined: nothing waits to be said. */
  const nextWords = (call: Call, nowMs: number): string | undefined => {
    const utterance = call.next;
    if (!utterance) return undefined;
    // Its speech is being made; or the platform was told already, and has not heard of it yet.
    if (!utterance.spoken || call.pushing) return hold(call, nextProgress(call.progress, nowMs), SHORT_SECS);
    const progress = progressAfter(call.progress, utterance, nowMs);
    call.doing = "busy";
    call.progress = progress;
    call.wasSaid(utterance);
    return words(call.person.id, utterance, utterance.spoken, progress);
  };

  const listenAgain = (call: Call, quiet: number, nowMs: number, ask: Asked | undefined): string => {
    const progress = nextProgress(call.progress, nowMs, { ask, quiet, hold: undefined });
    return listen(call, progress, quiet === 1 ? phrase(config.reprompt, nowMs) : undefined);
  };

  const holdOn = (call: Call, holds: number, nowMs: number): string => {
    const next = nextProgress(call.progress, nowMs, { hold: holds + 1, quiet: 0 });
    const filler = holds === 1 ? phrase(config.filler, nowMs) : undefined;
    if (!filler) return hold(call, next, HOLD_SECS);
    // The caller can't interrupt this text; the platform calls back at its end.
    call.doing = "busy";
    call.progress = next;
    return documents.telling(filler, next);
  };

  /** Who is asked something in the middle of a turn may think about it: then the line is not held, it listens. */
  const waitForAnswer = (call: Call, nowMs: number): string => {
    const { ask, quiet, hold: holds = 1 } = call.progress;
    if ((ask ? quiet : holds) <= MOST_HOLDS) {
      return ask ? listenAgain(call, quiet, nowMs, ask) : holdOn(call, holds, nowMs);
    }
    call.awaitNothing();
    return listenAgain(call, 1, nowMs, ask);
  };

  return {
    words,
    progressAfter,
    greeting: (call, nowMs) => listen(call, nextProgress(call.progress, nowMs), phrase(config.greeting, nowMs)),
    late: (call, nowMs) => documents.holding(nextProgress(call.progress, nowMs), SHORT_SECS),
    heard(call, nowMs) {
      if (isTooLong(call, nowMs)) return end(call, nowMs, config.goodbye);
      call.progress = nextProgress(call.progress, nowMs, { turn: call.progress.turn + 1, hold: 1, quiet: 0 });
      return nextWords(call, nowMs) ?? hold(call, call.progress, fillerSecs);
    },
    goOn(call, nowMs) {
      if (isTooLong(call, nowMs)) return end(call, nowMs, config.goodbye);
      const next = nextWords(call, nowMs);
      if (next !== undefined) return next;
      if (!isAllowed(call.person.id)) return end(call, nowMs);
      const { ask, hold: holds, quiet } = call.progress;
      if (holds !== undefined || call.isAwaited) return waitForAnswer(call, nowMs);
      return quiet >= 2 ? end(call, nowMs, config.goodbye) : listenAgain(call, quiet, nowMs, ask);
    },
  };
}
