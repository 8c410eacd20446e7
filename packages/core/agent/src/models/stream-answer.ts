/** One answer as it comes in: told piece by piece, and put together to what the same call would have given whole. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider";
import { SvcError } from "@svc/contract";
import { isPushing, type TakePart } from "./pushing-model.ts";

export interface AnswerInPieces {
  readonly onText: (delta: string) => void;
  /** What has come so far, in characters: text, reasoning and tool calls; right even when the answer breaks off. */
  chars: number;
}

export interface WholeAnswer {
  readonly content: readonly LanguageModelV4Content[];
  readonly usage: LanguageModelV4Usage;
  readonly finishReason: LanguageModelV4FinishReason;
}

export async function streamAnswer(
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
