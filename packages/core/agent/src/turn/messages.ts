/** Between what a model answers and what it is sent back. */
import type {
  JSONValue,
  LanguageModelV4Content,
  LanguageModelV4Message,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";
import type { Json } from "@svc/contract";

type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;

export function userMessage(text: string): LanguageModelV4Message {
  return { role: "user", content: [{ type: "text", text }] };
}

/** The answer as a message: text, reasoning with its signatures, and tool calls; sources and the like are not sent back. */
export function assistantMessage(content: readonly LanguageModelV4Content[]): AssistantMessage {
  const parts: AssistantMessage["content"] = [];
  for (const part of content) {
    const options =
      "providerMetadata" in part && part.providerMetadata ? { providerOptions: part.providerMetadata } : {};
    if (part.type === "text" || part.type === "reasoning") parts.push({ type: part.type, text: part.text, ...options });
    if (part.type === "tool-call") {
      const { toolCallId, toolName } = part;
      parts.push({ type: "tool-call", toolCallId, toolName, input: parsedOr(part.input), ...options });
    }
  }
  return { role: "assistant", content: parts };
}

export function toolMessage(call: LanguageModelV4ToolCall, ok: boolean, output: Json): LanguageModelV4Message {
  return {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: call.toolCallId, toolName: call.toolName, output: outputOf(ok, output) },
    ],
  };
}

/** Calls that we are to run; a provider's own tools have run already. */
export function toolCallsOf(content: readonly LanguageModelV4Content[]): LanguageModelV4ToolCall[] {
  return content.filter(
    (part) => part.type === "tool-call" && part.providerExecuted !== true,
  ) as LanguageModelV4ToolCall[];
}

export function textOf(content: readonly LanguageModelV4Content[]): string {
  const first = content[0];
  if (content.length === 1 && first?.type === "text") return first.text;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function outputOf(ok: boolean, output: Json): LanguageModelV4ToolResultOutput {
  if (typeof output === "string") return { type: ok ? "text" : "error-text", value: output };
  return { type: ok ? "json" : "error-json", value: output as JSONValue };
}

/** Providers want the input as an object; a malformed one is sent back as an empty object beside the error result. */
function parsedOr(input: string): unknown {
  try {
    return JSON.parse(input || "{}");
  } catch {
    return {};
  }
}
