/** One step's call of the model: what is sent, who reads the answer as it comes, and what it cost. */
import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { type Clock, type Json, SvcError, type TurnEvent } from "@svc/contract";
import { type Tracer, watched } from "@svc/runtime";
import { redactJson } from "@svc/config";
import { type TurnSettings, estimateTokens, tokensIn } from "../models/agent-models.ts";
import {
  type AnswerListener,
  type ModelAnswer,
  type ModelCall,
  type ModelWait,
  callModel,
} from "../models/call-model.ts";
import { emptyAnswerError } from "../models/model-error.ts";
import type { Tokens, ToldTokens } from "../cost.ts";
import type { ActiveTurn, TurnProgress } from "./active-turns.ts";
import { kept, textOf, toolCallsOf } from "./messages.ts";

/** The ids of the turn are added to each event. */
export type EmitTurnEvent = (event: WithoutTurn<TurnEvent>) => void;
type WithoutTurn<Event> = Event extends TurnEvent
  ? Omit<Event, "turnId" | "sessionId" | "conversationId" | "owner">
  : never;

export interface ModelStepDeps {
  readonly turn: ActiveTurn;
  /** Kept for the whole turn, whatever a reload changes. */
  readonly settings: TurnSettings;
  /** What features add to the system prompt, as it was when the turn began. */
  readonly promptContext: string;
  /** Messages of earlier turns. */
  readonly history: () => readonly LanguageModelV4Message[];
  readonly progress: TurnProgress;
  readonly clock: Clock;
  readonly tracer: Tracer;
  readonly redaction: Redaction;
  readonly emit: EmitTurnEvent;
  /** Whether subscribers read what is emitted now. */
  readonly isListened: () => boolean;
  /** Throws COST_LIMIT. */
  readonly checkBudget: () => void;
  /** `progress.partial` has grown. */
  readonly onPartial: () => void;
}

export class ModelStep {
  readonly #deps: ModelStepDeps;

  constructor(deps: ModelStepDeps) {
    this.#deps = deps;
  }

  /** `step`: from 0. Throws COST_LIMIT, MODEL_*; an abort with the signal's reason. */
  ask(step: number): Promise<ModelAnswer> {
    const { checkBudget, tracer } = this.#deps;
    checkBudget();
    const options = this.#options();
    return tracer.isWatched ? this.#tracedCall(options, step) : this.#call(options, step);
  }

  #tracedCall(options: LanguageModelV4CallOptions, step: number): Promise<ModelAnswer> {
    const { tracer, settings, turn, progress, redaction } = this.#deps;
    const { meter } = progress;
    const { provider, modelName: model } = settings;
    const span = tracer.begin("model-call", { agent: turn.agent, provider, model, step });
    const before = meter.mark();
    const ask = (): Promise<ModelAnswer> => this.#call(options, step);
    // It was JSON before the library typed it.
    const clean = (said: unknown): Json => redactJson(said as Json, redaction.redact);
    const recordedAsk = async (): Promise<ModelAnswer> => {
      span.content("input", clean(options.prompt));
      const answer = await ask();
      span.content("output", clean(kept(answer.content)));
      return answer;
    };
    return watched(span, span.wantsContent ? recordedAsk : ask, (error) => ({ error, ...meter.since(before) }));
  }

  async #call(options: LanguageModelV4CallOptions, step: number): Promise<ModelAnswer> {
    const { settings, progress, turn, redaction, emit, clock, isListened, onPartial } = this.#deps;
    const { onEvent, watch } = turn.request;
    const { meter } = progress;
    const tell = (text: string): void => {
      progress.partial = { step, text: (progress.partial?.step === step ? progress.partial.text : "") + text };
      emit({ type: "text-delta", text, offset: turn.toldChars });
      turn.toldChars += text.length;
      onPartial();
    };
    const estimate = (outputTokens: number): Tokens => ({
      inputTokens: estimateTokens(JSON.stringify([options.prompt, options.tools])),
      outputTokens,
    });
    let waited: ModelWait | undefined;
    const onWaiting = (wait: ModelWait): void => {
      waited = wait;
      emit({ type: "turn-waiting", ...wait });
    };
    const modelCall: ModelCall = {
      model: settings.model,
      about: { ...settings.about, redact: redaction.redact },
      onWaiting,
      clock,
      maxRetries: settings.maxRetries,
      onPieces: answerListeners({
        isAsker: onEvent !== undefined,
        isWatched: isListened,
        watcher: watch && { begin: () => watch.begin(step), push: (text) => watch.push(text) },
        redaction,
        tell,
      }),
      onLost: (chars) => meter.add(UNTOLD, () => estimate(tokensIn(chars))),
      options,
    };
    const answer = await turn.limit.blaming(
      () => timeoutError(waited),
      () => callModel(modelCall),
    );
    meter.add(answer, () => estimate(estimateTokens(JSON.stringify(answer.content))));
    const isEmpty = toolCallsOf(answer.content).length === 0 && textOf(answer.content).trim() === "";
    const unanswered = isEmpty ? emptyAnswerError(answer.finish) : undefined;
    if (unanswered) throw unanswered;
    return answer;
  }

  #options(): LanguageModelV4CallOptions {
    const { settings, history, progress, turn, promptContext } = this.#deps;
    const { maxOutputTokens, functionTools } = settings;
    const instructions = [settings.instructions, turn.request.instructions, promptContext].filter(Boolean).join("\n\n");
    const system: LanguageModelV4Message[] = instructions ? [{ role: "system", content: instructions }] : [];
    return {
      prompt: settings.readsHistory ? system.concat(history(), progress.messages) : system.concat(progress.messages),
      abortSignal: turn.limit.signal,
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(functionTools.length > 0 && { tools: functionTools }),
    };
  }
}

/** `waited`: what the provider failed with before. */
const timeoutError = (waited: ModelWait | undefined): SvcError =>
  waited === undefined
    ? new SvcError("TURN_TIMEOUT", "The turn's time was up before the model answered.", {
        hint:
          "Try again. If the model is slow, raise agent.turn_timeout_secs; if it never answers, check model.base_url and " +
          "the network: svc model test.",
      })
    : new SvcError("TURN_TIMEOUT", `The turn's time was up before the model answered. ${waited.message}`, {
        hint: "Try again in a few minutes.",
      });

const UNTOLD: ToldTokens = { inputTokens: undefined, outputTokens: undefined };

interface Audience {
  /** The caller of the turn wants pieces. */
  readonly isAsker: boolean;
  /** Subscribers read along now. */
  readonly isWatched: () => boolean;
  readonly watcher: TryWatcher | undefined;
  readonly redaction: Redaction;
  readonly tell: (text: string) => void;
}

interface TryWatcher {
  /** A try begins: the pieces of the one before are void. */
  begin(): void;
  push(text: string): void;
}

/**
 * The readers of an answer in pieces. The caller of the turn gets each piece as it comes, so a try that failed after one is not
 * repeated. Subscribers must not cost the turn its further tries: they get the pieces of the first try, and the whole answer at the
 * turn's end. A watcher can take back its pieces, and gets those of every try. The result is called for each try.
 */
function answerListeners(audience: Audience): () => AnswerListener | undefined {
  const { isAsker, isWatched, watcher, redaction, tell } = audience;
  if (isAsker && !watcher) return () => new RedactedStream(redaction, tell);
  let shown: AnswerListener | undefined;
  return () => {
    const isTold = isAsker || (shown?.hasTold !== true && isWatched());
    if (!isTold && !watcher) return undefined;
    watcher?.begin();
    const stream = new RedactedStream(redaction, hearing(isTold ? tell : undefined, watcher));
    if (isTold) shown = stream;
    return isAsker ? stream : { push: (delta) => stream.push(delta), end: () => stream.end(), hasTold: false };
  };
}

function hearing(tell: Audience["tell"] | undefined, watcher: TryWatcher | undefined): Audience["tell"] {
  return (text) => {
    tell?.(text);
    watcher?.push(text);
  };
}

/**
 * An answer told piece by piece, without the secrets in it. A piece may end in the middle of a secret, so what may be the beginning of one
 * waits until more has come: as little as that, or nothing would seem to be streamed.
 */
export interface Redaction {
  readonly redact: (text: string) => string;
  /** How many characters at the end of a text may be the beginning of a secret. */
  readonly partial: (text: string) => number;
}

export class RedactedStream implements AnswerListener {
  hasTold = false;
  readonly #redaction: Redaction;
  readonly #tell: (text: string) => void;
  #held = "";

  constructor(redaction: Redaction, tell: (text: string) => void) {
    this.#redaction = redaction;
    this.#tell = tell;
  }

  push(delta: string): void {
    const text = this.#held + delta;
    const end = this.#safeEnd(text);
    this.#held = text.slice(end);
    this.#send(text.slice(0, end));
  }

  /** Nothing more comes. */
  end(): void {
    const rest = this.#held;
    this.#held = "";
    this.#send(rest);
  }

  #send(text: string): void {
    if (text === "") return;
    this.hasTold = true;
    this.#tell(this.#redaction.redact(text));
  }

  /**
   * Where the text can be cut. Not inside a whole secret either, which ends in what another one begins with: its first
   * half would be told as it is.
   */
  #safeEnd(text: string): number {
    const { redact, partial } = this.#redaction;
    let end = text.length - partial(text);
    if (end === text.length || end === 0) return end;
    const whole = redact(text);
    while (end > 0 && redact(text.slice(0, end)) + redact(text.slice(end)) !== whole) end -= 1;
    return end;
  }
}
