/** One step's call of the model: what is sent, who reads the answer as it comes, what it cost, and how a failed call is repeated. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import {
  type Clock,
  type ErrorCode,
  type Json,
  type ModelFailureReason,
  SvcError,
  type TurnEvent,
} from "@svc/contract";
import { type Tracer, watched } from "@svc/runtime";
import { redactJson } from "@svc/config";
import {
  type ModelContext,
  type TakePart,
  type TurnSettings,
  estimateTokens,
  isPushing,
  tokensIn,
} from "../models/agent-models.ts";
import {
  ModelError,
  emptyAnswerError,
  isRetryable,
  modelError,
  retryAfterMs,
  wasAnswered,
} from "../models/model-error.ts";
import type { Tokens, ReportedTokens } from "../cost.ts";
import type { ActiveTurn, TurnProgress } from "./active-turns.ts";
import { storableContent, textOf, toolCallsOf } from "./history.ts";
import { retryDelayMs } from "@svc/kit/async";
import { offeredModels } from "../models/provider-words.ts";

/** What a step asks of its turn. */
export interface ModelStepDeps {
  readonly turn: ActiveTurn;
  /** Kept for the whole turn, whatever a reload changes. */
  readonly settings: TurnSettings;
  /** What features add to the system prompt, as it was when the turn began. */
  readonly promptContext: string;
  readonly progress: TurnProgress;
  readonly clock: Clock;
  readonly tracer: Tracer;
  readonly redaction: Redaction;
  /** Messages of earlier turns. */
  history(): readonly LanguageModelV4Message[];
  /** The ids of the turn are added to the event. */
  emit(event: WithoutTurn<TurnEvent>): void;
  /** Whether subscribers read what is emitted now. */
  isListened(): boolean;
  /** Throws COST_LIMIT. */
  checkBudget(): void;
  /** `progress.partial` has grown. */
  onPartial(): void;
}

type WithoutTurn<Event> = Event extends TurnEvent
  ? Omit<Event, "turnId" | "sessionId" | "conversationId" | "owner">
  : never;

export class ModelStep {
  readonly #deps: ModelStepDeps;

  constructor(deps: ModelStepDeps) {
    this.#deps = deps;
  }

  /** `step`: from 0. Throws COST_LIMIT, MODEL_*; once the turn's time is over, the reason. */
  ask(step: number): Promise<ModelAnswer> {
    const { turn, tracer } = this.#deps;
    turn.limit.throwIfOver();
    this.#deps.checkBudget();
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
      span.content("output", clean(storableContent(answer.content)));
      return answer;
    };
    return watched(span, span.wantsContent ? recordedAsk : ask, (error) => ({ error, ...meter.since(before) }));
  }

  async #call(options: LanguageModelV4CallOptions, step: number): Promise<ModelAnswer> {
    const { progress, turn } = this.#deps;
    const call = new StepCall(this.#deps, options, step);
    turn.limit.waitsFor = call;
    let answer: ModelAnswer;
    try {
      answer = await callModel(call);
    } finally {
      turn.limit.waitsFor = undefined;
    }
    const { content } = answer;
    progress.meter.add(answer, () => call.estimate(estimateTokens(JSON.stringify(content))));
    const isEmpty = textOf(content).trim() === "" && toolCallsOf(content).length === 0;
    const unanswered = isEmpty ? emptyAnswerError(answer.finish) : undefined;
    if (unanswered) throw unanswered;
    return answer;
  }

  #options(): LanguageModelV4CallOptions {
    const { settings, progress, turn, promptContext } = this.#deps;
    const { maxOutputTokens, functionTools, isBuiltin } = settings;
    const instructions = [settings.instructions, turn.request.instructions, promptContext].filter(Boolean).join("\n\n");
    const system: LanguageModelV4Message[] = instructions ? [{ role: "system", content: instructions }] : [];
    if (isBuiltin) return { prompt: [...system, ...progress.messages] };
    return {
      prompt: [...system, ...this.#deps.history(), ...progress.messages],
      abortSignal: turn.limit.signal,
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(functionTools.length > 0 && { tools: functionTools }),
    };
  }
}

/** The call of one step, with who reads along. */
class StepCall implements ModelCall {
  readonly options: LanguageModelV4CallOptions;
  readonly #deps: ModelStepDeps;
  readonly #step: number;
  #waited: ModelWait | undefined;
  /** What those who read along got of the first try. */
  #shown: AnswerListener | undefined;

  constructor(deps: ModelStepDeps, options: LanguageModelV4CallOptions, step: number) {
    this.#deps = deps;
    this.options = options;
    this.#step = step;
  }

  get model(): LanguageModelV4 {
    return this.#deps.settings.model;
  }

  get clock(): Clock {
    return this.#deps.clock;
  }

  get maxRetries(): number {
    return this.#deps.settings.maxRetries;
  }

  get about(): ModelContext {
    const { settings, redaction } = this.#deps;
    return { ...settings.about, redact: redaction.redact };
  }

  /**
   * The readers of an answer in pieces. The caller of the turn gets each piece as it comes, so a try that failed after one is not
   * repeated. Subscribers must not cost the turn its further tries: they get the pieces of the first try, and the whole answer at the
   * turn's end. A watcher can take back its pieces, and gets those of every try.
   */
  onPieces(): AnswerListener | undefined {
    const { redaction, turn } = this.#deps;
    const { onEvent, watch } = turn.request;
    const isAsker = onEvent !== undefined;
    const isTold = isAsker || (this.#shown?.hasTold !== true && this.#deps.isListened());
    if (!isTold && !watch) return undefined;
    watch?.begin(this.#step);
    const stream = new RedactedStream(redaction, (text) => {
      if (isTold) this.#tell(text);
      watch?.push(text);
    });
    if (isTold) this.#shown = stream;
    return isAsker ? stream : { push: (delta) => stream.push(delta), end: () => stream.end(), hasTold: false };
  }

  #tell(text: string): void {
    const { progress, turn } = this.#deps;
    const { partial } = progress;
    progress.partial = { step: this.#step, text: (partial?.step === this.#step ? partial.text : "") + text };
    this.#deps.emit({ type: "text-delta", text, offset: turn.toldChars });
    turn.toldChars += text.length;
    this.#deps.onPartial();
  }

  onWaiting(wait: ModelWait): void {
    this.#waited = wait;
    this.#deps.emit({ type: "turn-waiting", ...wait });
  }

  onLost(chars: number): void {
    this.#deps.progress.meter.add(UNTOLD, () => this.estimate(tokensIn(chars)));
  }

  estimate(outputTokens: number): Tokens {
    const { prompt, tools } = this.options;
    return { inputTokens: estimateTokens(JSON.stringify([prompt, tools])), outputTokens };
  }

  /** What the turn fails with when its time is up meanwhile. */
  timeoutError(): SvcError {
    return timeoutError(this.#waited);
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

const UNTOLD: ReportedTokens = { inputTokens: undefined, outputTokens: undefined };

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

// One model call: retried with back-off, streamed when somebody listens.

export interface ModelAnswer {
  readonly content: readonly LanguageModelV4Content[];
  /** undefined: the provider does not say. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** Why the answer ended, e.g. `stop`, `length`, `content-filter`. */
  readonly finish: string;
}

/** A failed try that is followed by another one. */
interface ModelWait {
  readonly code: ErrorCode;
  readonly reason: ModelFailureReason;
  readonly message: string;
  readonly waitMs: number;
  /** The try that comes after the wait, from 2. */
  readonly attempt: number;
  readonly attempts: number;
}

interface ModelCall {
  readonly model: LanguageModelV4;
  readonly options: LanguageModelV4CallOptions;
  readonly clock: Clock;
  /** Further tries after the first. */
  readonly maxRetries: number;
  /** Which model it is, for its errors; without one they name no keys of the config and quote nothing. */
  readonly about?: ModelContext | undefined;
  /** Asked for each try: the answer is streamed to the listener it gives. */
  onPieces?(): AnswerListener | undefined;
  /** Told before each wait for another try. */
  onWaiting?(wait: ModelWait): void;
  /** Told when a try ended without telling its tokens though the provider may charge for it. */
  onLost?(answerChars: number): void;
}

/** Takes the text of one try. */
interface AnswerListener {
  push(delta: string): void;
  /** The answer is whole. */
  end(): void;
  /** Somebody has seen a part of it, and must not be shown another try. */
  readonly hasTold: boolean;
}

const BACKOFF = { firstMs: 500, longestMs: 30_000 } as const;
/** A provider that asks for more is not waited for: the caller is told how long instead. */
const MAX_ASKED_MS = 60_000;

/** Throws MODEL_REFUSED or MODEL_UNREACHABLE; an abort rejects with the signal's reason. */
export async function callModel(call: ModelCall): Promise<ModelAnswer> {
  const signal = call.options.abortSignal;
  for (let tries = 0; ; tries += 1) {
    signal?.throwIfAborted();
    const listener = call.onPieces?.();
    let pieces: AnswerInPieces | undefined;
    try {
      if (!listener) return answerOf(await call.model.doGenerate(call.options));
      pieces = { onText: (delta) => listener.push(delta), chars: 0 };
      const answer = await streamAnswer(call.model, call.options, pieces);
      listener.end();
      return answerOf(answer);
    } catch (error) {
      const chars = pieces?.chars ?? 0;
      if (signal?.aborted || chars > 0 || wasAnswered(error)) call.onLost?.(chars);
      if (signal?.aborted) throw signal.reason;
      const askedMs = retryAfterMs(error, call.clock.now());
      const failure = modelError(error, { askedMs, about: call.about });
      const reason = failure instanceof ModelError ? failure.reason : "broke-off";
      // Once text has been shown, another try would show it twice. An empty account is empty a second later too.
      const canRepeat = listener?.hasTold !== true && isRetryable(error) && reason !== "no-credit";
      if (!canRepeat || (askedMs ?? 0) > MAX_ASKED_MS || tries >= call.maxRetries) {
        throw reason === "model-unknown" ? await withOfferedModels(error, failure, call) : failure;
      }
      const waitMs = askedMs ?? retryDelayMs(tries + 1, BACKOFF);
      const { code, message } = failure;
      call.onWaiting?.({ code, reason, message, waitMs, attempt: tries + 2, attempts: call.maxRetries + 1 });
      await call.clock.sleep(waitMs, signal);
    }
  }
}

/** The failure with the names that would work, where the provider lists them. */
async function withOfferedModels(error: unknown, failure: SvcError, call: ModelCall): Promise<SvcError> {
  const { about, clock, options } = call;
  if (!about || error instanceof SvcError) return failure;
  const offered = await offeredModels(about, clock, options.abortSignal);
  return modelError(error, { about, offered });
}

function answerOf(result: {
  readonly content: readonly LanguageModelV4Content[];
  readonly usage: LanguageModelV4Usage;
  readonly finishReason: LanguageModelV4FinishReason;
}): ModelAnswer {
  const { inputTokens, outputTokens } = result.usage;
  return {
    content: result.content,
    inputTokens: counted(inputTokens.total),
    outputTokens: counted(outputTokens.total),
    finish: result.finishReason.unified,
  };
}

/** A count that is none would make the cost of a day NaN, which no limit is ever below. */
const counted = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && Number.isFinite(tokens) && tokens >= 0 ? tokens : undefined;

/** One answer as it comes in: told piece by piece, and put together to what the same call would have given whole. */
interface AnswerInPieces {
  readonly onText: (delta: string) => void;
  /** What has come so far, in characters: text, reasoning and tool calls; right even when the answer breaks off. */
  chars: number;
}

interface WholeAnswer {
  readonly content: readonly LanguageModelV4Content[];
  readonly usage: LanguageModelV4Usage;
  readonly finishReason: LanguageModelV4FinishReason;
}

async function streamAnswer(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  pieces: AnswerInPieces,
): Promise<WholeAnswer> {
  const content: LanguageModelV4Content[] = [];
  const open = new Map<string, Block>();
  let ended: Pick<WholeAnswer, "usage" | "finishReason"> | undefined;
  const take: TakePart = (part) => {
    if ("delta" in part) pieces.chars += part.delta.length;
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const block: Block = { type: part.type === "text-start" ? "text" : "reasoning", text: "" };
        open.set(part.id, block);
        content.push(block);
        note(block, part);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const block = open.get(part.id);
        if (block) block.text += part.delta;
        note(block, part);
        if (part.type === "text-delta" && part.delta !== "") pieces.onText(part.delta);
        break;
      }
      case "text-end":
      case "reasoning-end":
        note(open.get(part.id), part);
        break;
      case "tool-call":
        content.push(part);
        break;
      case "finish":
        // Without the provider's own end the answer may be cut anywhere, and half an answer is none.
        if (part.finishReason.unified !== "interrupted") ended = part;
        break;
      case "error":
        throw part.error;
      default:
    }
  };
  if (isPushing(model)) await model.pushParts(options, take);
  else for await (const part of (await model.doStream(options)).stream) take(part);
  if (!ended) {
    throw new SvcError("MODEL_UNREACHABLE", "The model provider's answer broke off.", { hint: "Try again." });
  }
  return { content, usage: ended.usage, finishReason: ended.finishReason };
}

interface Block {
  readonly type: "text" | "reasoning";
  text: string;
  providerMetadata?: SharedV4ProviderMetadata;
}

/** Signatures of reasoning come with any of its parts, and must go back to the provider unchanged. */
function note(block: Block | undefined, part: { providerMetadata?: SharedV4ProviderMetadata }): void {
  if (block && part.providerMetadata) block.providerMetadata = part.providerMetadata;
}
