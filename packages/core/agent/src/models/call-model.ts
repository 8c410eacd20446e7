/** One model call: retried with back-off, streamed when somebody listens. */
import { randomInt } from "node:crypto";
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { type Clock, SvcError } from "@svc/contract";
import { isRetryable, modelError, retryAfterMs } from "./model-error.ts";

export interface ModelAnswer {
  readonly content: readonly LanguageModelV4Content[];
  /** undefined: the provider does not say. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
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
/** A provider that asks for more is not waited for: the caller is told how long instead. */
const MAX_ASKED_MS = 60_000;

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
      const askedMs = retryAfterMs(error, call.clock.now());
      const again = !told && tries < call.maxRetries && isRetryable(error) && (askedMs ?? 0) <= MAX_ASKED_MS;
      if (!again) throw modelError(error, askedMs);
      await call.clock.sleep(askedMs ?? backoffMs(tries), signal);
    }
  }
}

/** Doubling from half a second, with jitter. */
function backoffMs(tries: number): number {
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** tries) * (randomInt(750, 1001) / 1000);
}

async function stream(call: ModelCall, onText: (delta: string) => void): Promise<ModelAnswer> {
  const { stream } = await call.model.doStream(call.options);
  const content: LanguageModelV4Content[] = [];
  const open = new Map<string, Block>();
  let usage: LanguageModelV4Usage | undefined;
  for await (const part of stream) {
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
        if (part.type === "text-delta" && part.delta !== "") onText(part.delta);
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
        if (part.finishReason.unified !== "interrupted") usage = part.usage;
        break;
      case "error":
        throw part.error;
      default:
    }
  }
  if (!usage) throw new SvcError("MODEL_UNREACHABLE", "The model provider's answer broke off.");
  return answerOf({ content, usage });
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

function answerOf(result: { content: readonly LanguageModelV4Content[]; usage: LanguageModelV4Usage }): ModelAnswer {
  return {
    content: result.content,
    inputTokens: result.usage.inputTokens.total,
    outputTokens: result.usage.outputTokens.total,
  };
}
