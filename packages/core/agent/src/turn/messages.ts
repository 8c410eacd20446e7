/** Between what a model answers and what it is sent back. */
import type {
  JSONValue,
  LanguageModelV4Content,
  LanguageModelV4Message,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResultOutput,
} from "@ai-sdk/provider";
import type { Json } from "@svc/contract";
import { redactJson } from "../tools/redact-json.ts";

/** What the model is told of a call that started, and of which nobody knows how it ended. */
export const INTERRUPTED = "interrupted, outcome unknown";

type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;

export function userMessage(text: string): LanguageModelV4Message {
  return { role: "user", content: [{ type: "text", text }] };
}

/**
 * The answer as a message: text, reasoning with its signatures, and tool calls. Sources and the like are not sent back, nor
 * is blank text, which some providers refuse to be shown again.
 */
export function assistantMessage(content: readonly LanguageModelV4Content[]): AssistantMessage {
  const parts: AssistantMessage["content"] = [];
  for (const part of content) {
    const options =
      "providerMetadata" in part && part.providerMetadata ? { providerOptions: part.providerMetadata } : {};
    if (part.type === "text" && part.text.trim() === "") continue;
    if (part.type === "text" || part.type === "reasoning") parts.push({ type: part.type, text: part.text, ...options });
    if (part.type === "tool-call") {
      const { toolCallId, toolName } = part;
      parts.push({ type: "tool-call", toolCallId, toolName, input: objectOr(part.input), ...options });
    }
  }
  return { role: "assistant", content: parts };
}

/** The parts of an answer that `assistantMessage` and `toolCallsOf` look at, as JSON can hold them. */
export const kept = (content: readonly LanguageModelV4Content[]): readonly LanguageModelV4Content[] =>
  content.filter(({ type }) => type === "text" || type === "reasoning" || type === "tool-call");

export function toolMessage(call: LanguageModelV4ToolCall, ok: boolean, output: Json): LanguageModelV4Message {
  return {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: call.toolCallId, toolName: call.toolName, output: outputOf(ok, output) },
    ],
  };
}

/**
 * Some servers number their calls anew in each answer, or give none an id at all. The journal and the results are kept by
 * it, so what is blank or was used in this turn gets an id of ours. `alsoUsed`: by an attempt that is not in `earlier`.
 */
export function withUniqueCallIds<Answer extends { readonly content: readonly LanguageModelV4Content[] }>(
  answer: Answer,
  earlier: readonly LanguageModelV4Message[],
  alsoUsed: Iterable<string> = [],
): Answer {
  if (!answer.content.some(isOurCall)) return answer;
  const used = new Set<string>(alsoUsed);
  for (const { role, content } of earlier) {
    if (role === "assistant") for (const part of content) if (part.type === "tool-call") used.add(part.toolCallId);
  }
  const content = answer.content.map((part) => {
    if (!isOurCall(part)) return part;
    const isNew = part.toolCallId.trim() !== "" && !used.has(part.toolCallId);
    const toolCallId = isNew ? part.toolCallId : `call_${crypto.randomUUID()}`;
    used.add(toolCallId);
    return { ...part, toolCallId };
  });
  return { ...answer, content };
}

/**
 * The same content when there is nothing to take out. A secret may stand with one half in each of two texts: they become one
 * then. Reasoning goes back to the provider unchanged, or is refused.
 */
export function redactText(
  content: readonly LanguageModelV4Content[],
  redact: (text: string) => string,
): readonly LanguageModelV4Content[] {
  const said = textOf(content);
  const clean = redact(said);
  if (clean === said) return content;
  const inPlace = content.map((part) => (part.type === "text" ? { ...part, text: redact(part.text) } : part));
  if (textOf(inPlace) === clean) return inPlace;
  const first = content.findIndex(({ type }) => type === "text");
  return content.flatMap((part, index): LanguageModelV4Content[] => {
    if (part.type !== "text") return [part];
    return index === first ? [{ ...part, text: clean }] : [];
  });
}

/**
 * What was asked of tools, as it is kept. The tools got it as it was said: somebody may have told the model a secret so that it
 * uses it. Messages in which there is nothing to take out are the same ones.
 */
export function redactInputs(
  messages: readonly LanguageModelV4Message[],
  redact: (text: string) => string,
): LanguageModelV4Message[] {
  return messages.map((message) => {
    if (message.role !== "assistant" || !message.content.some(({ type }) => type === "tool-call")) return message;
    const content = message.content.map((part) =>
      part.type === "tool-call" ? { ...part, input: redactJson(part.input as Json, redact) } : part,
    );
    return { ...message, content };
  });
}

/** Calls that we are to run; a provider's own tools have run already. */
export function toolCallsOf(content: readonly LanguageModelV4Content[]): LanguageModelV4ToolCall[] {
  return content.filter(isOurCall);
}

const isOurCall = (part: LanguageModelV4Content): part is LanguageModelV4ToolCall =>
  part.type === "tool-call" && part.providerExecuted !== true;

export function textOf(content: readonly LanguageModelV4Content[]): string {
  const first = content[0];
  if (content.length === 1 && first?.type === "text") return first.text;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function outputOf(ok: boolean, output: Json): LanguageModelV4ToolResultOutput {
  if (typeof output === "string") return { type: ok ? "text" : "error-text", value: output };
  return { type: ok ? "json" : "error-json", value: output as JSONValue };
}

/** Providers want the input as an object; any other is sent back as an empty object beside the error result. */
function objectOr(input: string): object {
  try {
    const value: unknown = JSON.parse(input || "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}
