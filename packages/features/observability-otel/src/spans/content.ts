/**
 * What was said, as attributes: only called where the operator asked for it. Messages are written as the conventions' JSON
 * schemas demand (https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-input-messages.json),
 * as one JSON text, which most tools show and which can be kept short.
 */
import type { Attributes } from "@opentelemetry/api";
import type { Json, WorkKind } from "@svc/contract";

type Direction = "input" | "output";

/** None for kinds of work in which nothing is said. */
export function contentOf(kind: WorkKind, direction: Direction, said: Json): Attributes {
  switch (kind) {
    case "turn":
    case "model-call":
      return direction === "input"
        ? { "gen_ai.input.messages": JSON.stringify(inputMessages(said)) }
        : { "gen_ai.output.messages": JSON.stringify([outputMessage(said)]) };
    case "tool-call":
      return { [direction === "input" ? "gen_ai.tool.call.arguments" : "gen_ai.tool.call.result"]: textOf(said) };
    default:
      return {};
  }
}

/** A person's question, or the messages that go to the model (`{role, content}`, content a text or parts). */
const inputMessages = (said: Json): Json =>
  (Array.isArray(said) ? said : [{ role: "user", content: said }]).map((message: Json) => ({
    role: textAt(message, "role") ?? "user",
    parts: partsOf(valueAt(message, "content") ?? message),
  }));

/** The answer: a text, or the model's parts. */
function outputMessage(said: Json): Json {
  const parts = partsOf(said);
  const isCalling = parts.some((part) => textAt(part, "type") === "tool_call");
  return { role: "assistant", parts, finish_reason: isCalling ? "tool_call" : "stop" };
}

const partsOf = (content: Json): Json[] =>
  Array.isArray(content) ? content.map(partOf) : [{ type: "text", content: textOf(content) }];

function partOf(part: Json): Json {
  const type = textAt(part, "type");
  switch (type) {
    case "text":
    case "reasoning":
      return { type, content: textAt(part, "text") ?? "" };
    case "tool-call":
      return {
        type: "tool_call",
        id: textAt(part, "toolCallId") ?? null,
        name: textAt(part, "toolName") ?? "",
        arguments: valueAt(part, "input") ?? null,
      };
    case "tool-result":
      return {
        type: "tool_call_response",
        id: textAt(part, "toolCallId") ?? null,
        response: valueAt(valueAt(part, "output"), "value") ?? valueAt(part, "output") ?? null,
      };
    default:
      // A file, say: that there is one, and of what type; never its bytes.
      return { type: type ?? "unknown", mime_type: textAt(part, "mediaType") ?? null };
  }
}

const textOf = (said: Json): string => (typeof said === "string" ? said : JSON.stringify(said));

const valueAt = (value: Json | undefined, key: string): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)[key]
    : undefined;

function textAt(value: Json | undefined, key: string): string | undefined {
  const found = valueAt(value, key);
  return typeof found === "string" ? found : undefined;
}
