/** One model call: retried with back-off, streamed when somebody listens. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { type Clock, type ErrorCode, type ModelFailureReason, SvcError } from "@svc/contract";
import { retryDelayMs } from "@svc/kit/async";
import { ModelError, isRetryable, modelError, retryAfterMs, wasAnswered } from "./model-error.ts";
import { offeredModels } from "./provider-words.ts";
import { type ModelContext, type TakePart, isPushing } from "./agent-models.ts";

export interface ModelAnswer {
  readonly content: readonly LanguageModelV4Content[];
  /** undefined: the provider does not say. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** Why the answer ended, e.g. `stop`, `length`, `content-filter`. */
  readonly finish: string;
}

/** A failed try that is followed by another one. */
export interface ModelWait {
  readonly code: ErrorCode;
  readonly reason: ModelFailureReason;
  readonly message: string;
  readonly waitMs: number;
  /** The try that comes after the wait, from 2. */
  readonly attempt: number;
  readonly attempts: number;
}

export interface ModelCall {
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
export interface AnswerListener {
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
