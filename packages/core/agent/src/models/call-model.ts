/** One model call: retried with back-off, streamed when somebody listens. */
import { randomInt } from "node:crypto";
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { type Clock, SvcError } from "@svc/contract";
import { isRetryable, modelError, retryAfterMs } from "./model-error.ts";

export interface ModelAnswer {
  readonly content: readonly LanguageModelV4Content[];
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface ModelCall {
  readonly model: LanguageModelV4;
  readonly options: LanguageModelV4CallOptions;
  readonly clock: Clock;
  /** Further tries after the first. */
  readonly maxRetries: number;
  /** Given: the answer is streamed and each piece of text told. */
  readonly onText?: ((delta: string) => void) | undefined;
}

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;

/** Throws MODEL_REFUSED or MODEL_UNREACHABLE; an abort rejects with the signal's reason. */
export async function callModel(call: ModelCall): Promise<ModelAnswer> {
  const signal = call.options.abortSignal;
  for (let tries = 0; ; tries += 1) {
    // Once text has been shown, another try would show it twice.
    let told = false;
    try {
      if (!call.onText) return answerOf(await call.model.doGenerate(call.options));
      return await stream(call, (delta) => {
        told = true;
        call.onText?.(delta);
      });
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (told || tries >= call.maxRetries || !isRetryable(error)) throw modelError(error);
      await call.clock.sleep(backoffMs(tries, retryAfterMs(error, call.clock.now())), signal);
    }
  }
}

/** What the provider asked for when that is bearable, else doubling from half a second, with jitter. */
function backoffMs(tries: number, asked: number | undefined): number {
  if (asked !== undefined) return Math.min(asked, MAX_BACKOFF_MS * 2);
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** tries) * (randomInt(750, 1001) / 1000);
}

async function stream(call: ModelCall, onText: (delta: string) => void): Promise<ModelAnswer> {
  const { stream } = await call.model.doStream(call.options);
  const content: LanguageModelV4Content[] = [];
  const open = new Map<string, { type: "text" | "reasoning"; text: string; providerMetadata?: never }>();
  let usage: LanguageModelV4Usage | undefined;
  for await (const part of stream) {
    switch (part.type) {
      case "text-start":
      case "reasoning-start": {
        const block = { type: part.type === "text-start" ? ("text" as const) : ("reasoning" as const), text: "" };
        open.set(part.id, block);
        content.push(block);
        break;
      }
      case "text-delta":
      case "reasoning-delta": {
        const block = open.get(part.id);
        if (block) block.text += part.delta;
        if (part.type === "text-delta") onText(part.delta);
        break;
      }
      case "text-end":
      case "reasoning-end": {
        // Signatures of reasoning arrive at its end and must go back to the provider unchanged.
        const block = open.get(part.id);
        if (block && part.providerMetadata) Object.assign(block, { providerMetadata: part.providerMetadata });
        break;
      }
      case "tool-call":
        content.push(part);
        break;
      case "finish":
        usage = part.usage;
        break;
      case "error":
        throw part.error;
      default:
    }
  }
  if (!usage) throw new SvcError("MODEL_UNREACHABLE", "The model provider's stream ended early.");
  return answerOf({ content, usage });
}

function answerOf(result: { content: readonly LanguageModelV4Content[]; usage: LanguageModelV4Usage }): ModelAnswer {
  return {
    content: result.content,
    inputTokens: result.usage.inputTokens.total ?? 0,
    outputTokens: result.usage.outputTokens.total ?? 0,
  };
}
