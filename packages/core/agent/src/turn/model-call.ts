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
      span.content("output", clean(storableContent(answer.content)));
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

const UNTOLD: ReportedTokens = { inputTokens: undefined, outputTokens: undefined };

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
  /** Asked for each try: the answer is streamed to the listener it gives. */
  readonly onPieces?: (() => AnswerListener | undefined) | undefined;
  /** Which model it is, for its errors; without one they name no keys of the config and quote nothing. */
  readonly about?: ModelContext | undefined;
  /** Told before each wait for another try. */
  readonly onWaiting?: ((wait: ModelWait) => void) | undefined;
  /** Told when a try ended without telling its tokens though the provider may charge for it. */
  readonly onLost?: (answerChars: number) => void;
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
    const pieces: AnswerInPieces = { onText: (delta) => listener?.push(delta), chars: 0 };
    try {
      if (!listener) return answerOf(await call.model.doGenerate(call.options));
      const answer = await streamAnswer(call.model, call.options, pieces);
      listener.end();
      return answerOf(answer);
    } catch (error) {
      if (signal?.aborted || pieces.chars > 0 || wasAnswered(error)) call.onLost?.(pieces.chars);
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
