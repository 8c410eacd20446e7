/**
 * The embedded model: no key, no network, no intelligence, and it says so. It repeats the message word for word, and
 * `/tool <name> <json>` makes it call that tool through the ordinary loop and answer with the result, so that a whole
 * installation can be tried, tested and benchmarked offline.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { estimateTokens } from "./tokens.ts";

const ABOUT =
  "This is the built-in model of svc. It only repeats messages and runs /tool <name> <json>. " +
  "Set [model] in config.toml to get real answers.";

export const builtinModel: LanguageModelV4 = {
  specificationVersion: "v4",
  provider: "builtin",
  modelId: "builtin",
  supportedUrls: {},
  doGenerate: async (options) => generate(options),
  doStream: async (options) => ({ stream: toStream(generate(options)) }),
};

function generate(options: LanguageModelV4CallOptions): LanguageModelV4GenerateResult {
  options.abortSignal?.throwIfAborted();
  const content = answer(options.prompt.at(-1));
  const calls = content.type === "tool-call";
  const text = content.type === "text" ? content.text : "";
  return {
    content: [content],
    finishReason: { unified: calls ? "tool-calls" : "stop", raw: undefined },
    usage: {
      inputTokens: {
        total: estimateTokens(textOf(options.prompt.at(-1))),
        noCache: undefined,
        cacheRead: undefined,
        cacheWrite: undefined,
      },
      outputTokens: { total: estimateTokens(text), text: undefined, reasoning: undefined },
    },
    warnings: [],
  };
}

type Answer = Extract<LanguageModelV4Content, { type: "text" | "tool-call" }>;

function answer(message: LanguageModelV4Message | undefined): Answer {
  if (message?.role === "tool") return { type: "text", text: toolResult(message) };
  const said = textOf(message);
  const call = /^\/tool\s+(\S+)(?:\s+([\s\S]*))?$/.exec(said.trim());
  if (!call) return { type: "text", text: `${said}\n\n${ABOUT}` };
  const input = call[2]?.trim() || "{}";
  if (!isJsonObject(input)) return { type: "text", text: `${said}\n\nWrite it as /tool <name> {"key": "value"}.` };
  return { type: "tool-call", toolCallId: `call_${crypto.randomUUID()}`, toolName: call[1]!, input };
}

function toolResult(message: Extract<LanguageModelV4Message, { role: "tool" }>): string {
  const lines = message.content.map((part) => {
    if (part.type !== "tool-result") return "";
    const { output } = part;
    if (output.type === "execution-denied") return `${part.toolName}: ${output.reason ?? "refused"}`;
    if (output.type === "content") return `${part.toolName}: ${JSON.stringify(output.value)}`;
    const value = output.type === "json" || output.type === "error-json" ? JSON.stringify(output.value) : output.value;
    return `${part.toolName}: ${value}`;
  });
  return lines.join("\n");
}

function textOf(message: LanguageModelV4Message | undefined): string {
  if (message?.role !== "user") return "";
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Word by word, so that streaming can be seen. */
function toStream(result: LanguageModelV4GenerateResult): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue({ type: "stream-start", warnings: [] });
      for (const part of result.content) {
        if (part.type === "tool-call") controller.enqueue(part);
        if (part.type !== "text") continue;
        controller.enqueue({ type: "text-start", id: "0" });
        for (const delta of part.text.match(/\S+\s*|\s+/g) ?? [])
          controller.enqueue({ type: "text-delta", id: "0", delta });
        controller.enqueue({ type: "text-end", id: "0" });
      }
      controller.enqueue({ type: "finish", usage: result.usage, finishReason: result.finishReason });
      controller.close();
    },
  });
}
