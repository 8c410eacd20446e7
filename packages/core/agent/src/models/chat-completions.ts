/**
 * A model that speaks Chat Completions (POST /chat/completions), as most servers do. The AI SDK's `openai-compatible` does the
 * same for several times the processor time (docs/decisions/0018); a differential test compares the two part by part.
 */
import {
  InvalidResponseDataError,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Content,
  type LanguageModelV4FinishReason,
  type LanguageModelV4FunctionTool,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4Message,
  type LanguageModelV4Usage,
  type SharedV4ProviderMetadata,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider";
import type { TakePart } from "./agent-models.ts";
import {
  base64Of,
  isNumberOrNone,
  isObject,
  isPresent,
  isTextOrNone,
  parsedEvent,
  ProviderModel,
  type ProviderModelOptions,
  type ProviderRequest,
  type StreamedAnswer,
  ToolTexts,
} from "./provider-model.ts";
import { StreamedToolCalls, type ToolCallFragment } from "./streamed-tool-calls.ts";

/** Under this name stored conversations keep what goes back to the provider as it came. */
const PROVIDER = "openai-compatible";

export class ChatCompletionsModel extends ProviderModel {
  readonly provider = `${PROVIDER}.chat`;
  readonly #tools = new ToolTexts((tool) => ({ type: "function", function: describe(tool) }));

  constructor(options: ProviderModelOptions) {
    const { apiKey } = options;
    super(options, "/chat/completions", apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` });
  }

  /** What is the same in each request is serialised once. */
  protected request(
    { prompt, tools, maxOutputTokens }: LanguageModelV4CallOptions,
    isStream: boolean,
  ): ProviderRequest {
    const limit = maxOutputTokens === undefined ? "" : `,"max_tokens":${JSON.stringify(maxOutputTokens)}`;
    const stream = isStream ? ',"stream":true,"stream_options":{"include_usage":true}' : "";
    const offered =
      tools && tools.length > 0 ? `,"tools":[${tools.map((tool) => this.#tools.of(tool)).join(",")}]` : "";
    const messages = JSON.stringify(prompt.flatMap(toMessages));
    return { body: `{"model":${JSON.stringify(this.modelId)}${limit},"messages":${messages}${offered}${stream}}` };
  }

  protected answerOf(value: unknown): LanguageModelV4GenerateResult | undefined {
    return isBody(value, "message") ? answerOf(value) : undefined;
  }

  protected streamedAnswer(take: TakePart): StreamedAnswer {
    return new ChatCompletionsStream(take);
  }
}

const describe = ({ name, description, inputSchema, strict }: LanguageModelV4FunctionTool): object => ({
  name,
  description,
  parameters: inputSchema,
  ...(strict !== undefined && { strict }),
});

// What is sent: messages.

function toMessages(message: LanguageModelV4Message): object[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [{ role: "user", content: userContent(message.content) }];
    case "assistant":
      return [assistantMessage(message.content)];
    case "tool":
      return message.content.flatMap((part) =>
        part.type === "tool-result" ? [{ role: "tool", tool_call_id: part.toolCallId, content: outputText(part) }] : [],
      );
  }
}

type Content<Role> = Extract<LanguageModelV4Message, { role: Role }>["content"];

function userContent(parts: Content<"user">): unknown {
  const [first] = parts;
  if (parts.length === 1 && first?.type === "text") return first.text;
  return parts.map((part) => (part.type === "text" ? { type: "text", text: part.text } : filePart(part)));
}

function assistantMessage(parts: Content<"assistant">): object {
  let text = "";
  let reasoning = "";
  const calls: object[] = [];
  for (const part of parts) {
    if (part.type === "text") text += part.text;
    if (part.type === "reasoning") reasoning += part.text;
    if (part.type !== "tool-call") continue;
    const signature =
      part.providerOptions?.[PROVIDER]?.["thoughtSignature"] ?? part.providerOptions?.["google"]?.["thoughtSignature"];
    calls.push({
      id: part.toolCallId,
      type: "function",
      function: { name: part.toolName, arguments: argumentsText(part.input) },
      ...(signature ? { extra_content: { google: { thought_signature: String(signature) } } } : {}),
    });
  }
  return {
    role: "assistant",
    content: calls.length > 0 ? text || null : text,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Text that is JSON already stays as it is. */
function argumentsText(input: unknown): string {
  if (typeof input !== "string") return JSON.stringify(input);
  try {
    JSON.parse(input);
    return input;
  } catch {
    return JSON.stringify(input);
  }
}

type ToolResult = Extract<Content<"tool">[number], { type: "tool-result" }>;

function outputText({ output }: ToolResult): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "execution-denied":
      return output.reason ?? "Tool call execution denied.";
    case "json":
    case "error-json":
    case "content":
      return JSON.stringify(output.value);
  }
}

type FilePart = Extract<Content<"user">[number], { type: "file" }>;

function filePart({ mediaType, data, filename }: FilePart): object {
  const [kind] = mediaType.split("/");
  if (data.type === "text" && kind === "text") return { type: "text", text: data.text };
  if (data.type === "url" && (kind === "image" || kind === "video")) return mediaPart(kind, data.url.toString());
  if (data.type === "data" && !mediaType.endsWith("*")) {
    const base64 = base64Of(data.data);
    if (kind === "image" || kind === "video") return mediaPart(kind, `data:${mediaType};base64,${base64}`);
    const format = AUDIO.get(mediaType);
    if (format !== undefined) return { type: "input_audio", input_audio: { data: base64, format } };
    if (mediaType === "application/pdf") {
      const file = { filename: filename ?? "document.pdf", file_data: `data:application/pdf;base64,${base64}` };
      return { type: "file", file };
    }
    if (kind === "text") return { type: "text", text: Buffer.from(base64, "base64").toString() };
  }
  throw new UnsupportedFunctionalityError({ functionality: `files of the type ${mediaType}` });
}

const mediaPart = (kind: "image" | "video", url: string): object => ({ type: `${kind}_url`, [`${kind}_url`]: { url } });

const AUDIO: ReadonlyMap<string, string> = new Map([
  ["audio/wav", "wav"],
  ["audio/mp3", "mp3"],
  ["audio/mpeg", "mp3"],
]);

// What comes: a whole answer.

interface Part {
  readonly type: string;
  readonly text?: unknown;
  readonly thinking?: unknown;
}

/** Of an answer, or of the next piece of one. */
interface Message {
  readonly content?: string | readonly Part[] | null;
  readonly refusal?: unknown;
  readonly reasoning_content?: string | null;
  readonly reasoning?: string | null;
  readonly tool_calls?: readonly ToolCallFragment[] | null;
}

interface Choice {
  readonly message?: Message;
  readonly delta?: Message | null;
  readonly finish_reason?: string | null;
}

interface Usage {
  readonly prompt_tokens?: number | null;
  readonly completion_tokens?: number | null;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number | null } | null;
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number | null } | null;
}

interface Body {
  readonly choices: readonly Choice[];
  readonly usage?: Usage | null;
}

function answerOf({ choices, usage }: Body): LanguageModelV4GenerateResult {
  const choice = choices[0];
  if (!choice) throw new InvalidResponseDataError({ data: undefined, message: "The answer has no choices." });
  const message = choice.message!;
  const content: LanguageModelV4Content[] = [];
  const reasoning = message.reasoning_content ?? message.reasoning;
  if (reasoning) content.push({ type: "reasoning", text: reasoning });
  content.push(...contentOf(message.content));
  const hasRefusal = isRefusal(message.refusal);
  if (hasRefusal) content.push({ type: "text", text: message.refusal });
  for (const call of message.tool_calls ?? []) {
    const providerMetadata = signatureOf(call);
    content.push({
      type: "tool-call",
      toolCallId: call.id || `call_${crypto.randomUUID()}`,
      toolName: call.function.name!,
      input: call.function.arguments!,
      ...(providerMetadata && { providerMetadata }),
    });
  }
  return { content, finishReason: finishOf(choice.finish_reason, hasRefusal), usage: usageOf(usage), warnings: [] };
}

const isRefusal = (refusal: unknown): refusal is string => typeof refusal === "string" && refusal !== "";

/** Gemini wants its signature back with the call. */
function signatureOf({ extra_content: extra }: ToolCallFragment): SharedV4ProviderMetadata | undefined {
  const thoughtSignature = extra?.google?.thought_signature;
  return thoughtSignature ? { [PROVIDER]: { thoughtSignature } } : undefined;
}

type ShownContent = Extract<LanguageModelV4Content, { type: "text" | "reasoning" }>;

function contentOf(content: Message["content"]): ShownContent[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return (content ?? []).flatMap(({ type, text, thinking }): ShownContent[] => {
    if (type === "text" && typeof text === "string" && text !== "") return [{ type, text }];
    if (type !== "thinking" || !Array.isArray(thinking)) return [];
    const texts = (thinking as readonly unknown[]).map((part) => {
      const { type, text } = (part ?? {}) as { type?: unknown; text?: unknown };
      return type === "text" && typeof text === "string" ? text : "";
    });
    const reasoning = texts.join("");
    return reasoning === "" ? [] : [{ type: "reasoning", text: reasoning }];
  });
}

function finishOf(raw: string | null | undefined, hasRefusal: boolean): LanguageModelV4FinishReason {
  return {
    unified: (raw === "stop" && hasRefusal ? "content-filter" : FINISH.get(raw ?? "")) ?? "other",
    raw: raw ?? undefined,
  };
}

const FINISH: ReadonlyMap<string, LanguageModelV4FinishReason["unified"]> = new Map([
  ["stop", "stop"],
  ["length", "length"],
  ["content_filter", "content-filter"],
  ["function_call", "tool-calls"],
  ["tool_calls", "tool-calls"],
]);

function usageOf(usage: Usage | null | undefined): LanguageModelV4Usage {
  if (!usage) {
    return {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    };
  }
  const input = usage.prompt_tokens ?? 0;
  const output = usage.completion_tokens ?? 0;
  const cacheRead = usage.prompt_tokens_details?.cached_tokens ?? 0;
  const reasoning = usage.completion_tokens_details?.reasoning_tokens ?? 0;
  return {
    inputTokens: { total: input, noCache: input - cacheRead, cacheRead, cacheWrite: undefined },
    outputTokens: { total: output, text: Math.max(0, output - reasoning), reasoning },
  };
}

// What comes: an answer in pieces.

const IDS = { text: "txt-0", reasoning: "reasoning-0" } as const;

/** Text that came at once is told at once: each piece costs a reader more than the model's whole chunk. */
class ChatCompletionsStream implements StreamedAnswer {
  readonly #take: TakePart;
  readonly #calls: StreamedToolCalls;
  #open: "text" | "reasoning" | undefined;
  /** Of what is open, and not told yet. */
  #untold = "";
  #hasRefusal = false;
  #finish: string | undefined;
  #usage: Usage | undefined;

  constructor(take: TakePart) {
    this.#take = take;
    this.#calls = new StreamedToolCalls(take, signatureOf);
  }

  /** Throws what the provider says in place of an answer, and TypeValidationError or JSONParseError for what is none. */
  event(data: string): void {
    if (data === "[DONE]") return;
    const value = parsedEvent(data);
    if (isObject(value) && isPresent(value["error"]) && (isBody(value, "delta") || isErrorFrame(value["error"]))) {
      throw value["error"];
    }
    if (!isBody(value, "delta")) throw new TypeValidationError({ value: undefined, cause: "not a chunk of an answer" });
    const { usage } = value;
    if (usage) this.#usage = usage;
    const choice = value.choices[0];
    if (!choice) return;
    this.#finish = choice.finish_reason ?? this.#finish;
    if (choice.delta) this.#delta(choice.delta);
  }

  #delta({ content, refusal, reasoning_content, reasoning, tool_calls: calls }: Message): void {
    const thought = reasoning_content ?? reasoning;
    if (thought) this.#push("reasoning", thought);
    if (typeof content === "string") {
      if (content !== "") this.#push("text", content);
    } else for (const part of contentOf(content)) this.#push(part.type, part.text);
    if (isRefusal(refusal)) {
      this.#hasRefusal = true;
      this.#push("text", refusal);
    }
    if (!calls || calls.length === 0) return;
    if (this.#open === "reasoning") this.#close();
    this.tell();
    for (const call of calls) this.#calls.add(call);
  }

  #push(type: "text" | "reasoning", delta: string): void {
    if (this.#open !== type) {
      this.#close();
      this.#open = type;
      this.#take({ type: `${type}-start`, id: IDS[type] });
    }
    this.#untold += delta;
  }

  tell(): void {
    if (this.#untold === "" || this.#open === undefined) return;
    const delta = this.#untold;
    this.#untold = "";
    this.#take({ type: `${this.#open}-delta`, id: IDS[this.#open], delta });
  }

  #close(): void {
    if (this.#open === undefined) return;
    this.tell();
    this.#take({ type: `${this.#open}-end`, id: IDS[this.#open] });
    this.#open = undefined;
  }

  /** Throws InvalidResponseDataError where the provider's own end is missing: half an answer is none. */
  end(): void {
    this.#close();
    this.#calls.end();
    if (this.#finish === undefined) {
      throw new InvalidResponseDataError({ data: undefined, message: "The stream ended without a finish reason." });
    }
    this.#take({ type: "finish", finishReason: finishOf(this.#finish, this.#hasRefusal), usage: usageOf(this.#usage) });
  }
}

// What is taken for an answer at all.

function isBody(value: unknown, piece: "message" | "delta"): value is Body {
  if (!isObject(value) || !Array.isArray(value["choices"]) || !isUsage(value["usage"])) return false;
  return value["choices"].every((choice: unknown) => {
    if (!isObject(choice) || !isTextOrNone(choice["finish_reason"])) return false;
    const message = choice[piece];
    return piece === "delta" && !isPresent(message) ? true : isMessage(message, piece);
  });
}

function isMessage(message: unknown, piece: "message" | "delta"): message is Message {
  if (!isObject(message)) return false;
  const { role, content, tool_calls: calls } = message;
  return (
    (!isPresent(role) || role === "assistant" || (role === "" && piece === "delta")) &&
    (isTextOrNone(content) ||
      (Array.isArray(content) && content.every((part) => isObject(part) && typeof part["type"] === "string"))) &&
    isTextOrNone(message["reasoning_content"]) &&
    isTextOrNone(message["reasoning"]) &&
    (!isPresent(calls) || (Array.isArray(calls) && calls.every((call) => isToolCall(call, piece))))
  );
}

function isToolCall(call: unknown, piece: "message" | "delta"): boolean {
  if (!isObject(call) || !isTextOrNone(call["id"]) || !isObject(call["function"])) return false;
  const { name, arguments: input } = call["function"];
  if (piece === "message" && (typeof name !== "string" || typeof input !== "string")) return false;
  const extra = call["extra_content"];
  const google = isObject(extra) ? extra["google"] : undefined;
  return (
    isTextOrNone(name) &&
    isTextOrNone(input) &&
    (piece === "message" || isNumberOrNone(call["index"])) &&
    (!isPresent(extra) || isObject(extra)) &&
    (!isPresent(google) || (isObject(google) && isTextOrNone(google["thought_signature"])))
  );
}

function isUsage(usage: unknown): boolean {
  if (!isPresent(usage)) return true;
  if (!isObject(usage)) return false;
  const { prompt_tokens_details: input, completion_tokens_details: output } = usage;
  return (
    isNumberOrNone(usage["prompt_tokens"]) &&
    isNumberOrNone(usage["completion_tokens"]) &&
    (!isPresent(input) || (isObject(input) && isNumberOrNone(input["cached_tokens"]))) &&
    (!isPresent(output) || (isObject(output) && isNumberOrNone(output["reasoning_tokens"])))
  );
}

/** Other words in place of an answer are no answer, and no reason either. */
const isErrorFrame = (error: unknown): boolean =>
  isObject(error) &&
  typeof error["message"] === "string" &&
  isTextOrNone(error["type"]) &&
  (isTextOrNone(error["code"]) || isNumberOrNone(error["code"]));
