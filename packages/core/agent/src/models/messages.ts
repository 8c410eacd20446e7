/**
 * A model that speaks Messages (POST /messages). The AI SDK's `anthropic` does the same for twice to five times the processor time
 * (docs/decisions/0018); a differential test compares the two part by part. Only what a turn asks for is here: text, reasoning,
 * images, documents and the agent's own tools.
 */
import {
  APICallError,
  InvalidResponseDataError,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Content,
  type LanguageModelV4FinishReason,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4Message,
  type LanguageModelV4StreamPart,
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

/** Under this name stored conversations keep what goes back to the provider as it came. */
const PROVIDER = "anthropic";
const VERSION = "2023-06-01";

export class MessagesModel extends ProviderModel {
  readonly provider = `${PROVIDER}.messages`;
  readonly #url: string;
  readonly #limits: ModelLimits;
  readonly #tools = new ToolTexts(describe);
  readonly #streamedTools = new ToolTexts((tool) => ({ ...describe(tool), eager_input_streaming: true }));

  constructor(options: ProviderModelOptions) {
    super(options, "/messages", { "anthropic-version": VERSION, "x-api-key": options.apiKey });
    this.#url = options.baseUrl;
    this.#limits = limitsOf(this.modelId);
  }

  /** What is the same in each request is serialised once. */
  protected request(
    { prompt, tools, maxOutputTokens }: LanguageModelV4CallOptions,
    isStream: boolean,
  ): ProviderRequest {
    const { longest, isKnown, isStructured } = this.#limits;
    const wanted = maxOutputTokens ?? longest;
    const { system, messages, betas } = promptOf(prompt);
    const texts = isStream ? this.#streamedTools : this.#tools;
    const hasTools = tools !== undefined && tools.length > 0;
    if (hasTools && isStructured) betas.add("structured-outputs-2025-11-13");
    const body = [
      `{"model":${JSON.stringify(this.modelId)},"max_tokens":${isKnown ? Math.min(wanted, longest) : wanted}`,
      system.length > 0 ? `,"system":${JSON.stringify(system)}` : "",
      `,"messages":${JSON.stringify(messages)}`,
      hasTools ? `,"tools":[${tools.map((tool) => texts.of(tool)).join(",")}]` : "",
      isStream ? ',"stream":true}' : "}",
    ].join("");
    return betas.size === 0 ? { body } : { body, headers: { "anthropic-beta": [...betas].join(",") } };
  }

  protected answerOf(value: unknown): LanguageModelV4GenerateResult | undefined {
    if (!isObject(value) || value["type"] !== "message" || !Array.isArray(value["content"])) return undefined;
    const { stop_reason: stop, usage } = value;
    if (!isTextOrNone(stop) || !isUsage(usage) || typeof usage.input_tokens !== "number") return undefined;
    const content = value["content"].map(contentOf);
    if (!content.every((part) => part !== undefined)) return undefined;
    return { content, finishReason: finishOf(stop as string | null), usage: usageOf(usage), warnings: [] };
  }

  protected streamedAnswer(take: TakePart): StreamedAnswer {
    return new MessagesStream(take, this.#url);
  }
}

const describe: ConstructorParameters<typeof ToolTexts>[0] = ({ name, description, inputSchema, strict }) => {
  if (strict !== undefined) throw new UnsupportedFunctionalityError({ functionality: "strict tools" });
  return { name, description, input_schema: inputSchema };
};

interface ModelLimits {
  /** Tokens of an answer. */
  readonly longest: number;
  /** The provider refuses a higher limit. */
  readonly isKnown: boolean;
  readonly isStructured: boolean;
}

/** The format has no default for the length of an answer, and each model a longest one. The first that matches counts. */
const LIMITS: readonly (readonly [RegExp, ModelLimits])[] = [
  [
    /claude-(?:opus-5|sonnet-5|haiku-5-5|fable-5|opus-4-[678]|sonnet-4-6)/,
    { longest: 128_000, isKnown: true, isStructured: true },
  ],
  [/claude-(?:sonnet|opus|haiku)-4-5/, { longest: 64_000, isKnown: true, isStructured: true }],
  [/claude-opus-4-1/, { longest: 32_000, isKnown: true, isStructured: true }],
  [/claude-sonnet-4[-@]/, { longest: 64_000, isKnown: true, isStructured: false }],
  [/claude-opus-4[-@]/, { longest: 32_000, isKnown: true, isStructured: false }],
  [/claude-3-haiku/, { longest: 4_096, isKnown: true, isStructured: false }],
  [/claude-(?:instant(?:-|$)|v?2(?=$|[-.:])|3(?=$|[-.]))/, { longest: 4_096, isKnown: false, isStructured: false }],
  [/claude-/, { longest: 128_000, isKnown: false, isStructured: true }],
];

const limitsOf = (modelId: string): ModelLimits =>
  LIMITS.find(([pattern]) => pattern.test(modelId))?.[1] ?? { longest: 4_096, isKnown: false, isStructured: false };

// What is sent.

interface Block {
  readonly type: string;
  readonly [key: string]: unknown;
}

interface Message {
  readonly role: "user" | "assistant";
  readonly content: Block[];
}

interface Prompt {
  readonly system: Block[];
  readonly messages: Message[];
  /** Of the headers: features that the provider has to be asked for. */
  readonly betas: Set<string>;
}

/** The format wants roles in turn: messages of one side that follow each other become one. */
function promptOf(prompt: readonly LanguageModelV4Message[]): Prompt {
  const made: Prompt = { system: [], messages: [], betas: new Set() };
  const last = prompt.findLastIndex(({ role }) => role !== "system");
  for (const [at, message] of prompt.entries()) {
    const { role } = message;
    if (role === "system") {
      if (made.messages.length > 0)
        throw new UnsupportedFunctionalityError({ functionality: "a later system message" });
      made.system.push({ type: "text", text: message.content });
      continue;
    }
    const side = role === "assistant" ? "assistant" : "user";
    if (made.messages.at(-1)?.role !== side) made.messages.push({ role: side, content: [] });
    const { content } = made.messages.at(-1)!;
    if (role === "assistant") content.push(...assistantBlocks(message.content, at === last));
    else if (role === "user") content.push(...message.content.map((part) => userBlock(part, made.betas)));
    else content.push(...message.content.flatMap((part) => resultBlock(part, made.betas)));
  }
  return { ...made, messages: made.messages.flatMap(sentMessage) };
}

function sentMessage({ role, content }: Message): Message[] {
  if (role === "user") return [{ role, content }];
  return content.length > 0 ? [{ role, content: callsLast(content) }] : [];
}

type Content<Role> = Extract<LanguageModelV4Message, { role: Role }>["content"];

function userBlock(part: Content<"user">[number], betas: Set<string>): Block {
  if (part.type === "text") return { type: "text", text: part.text };
  const { data, mediaType, filename: title } = part;
  if (data.type === "text") return { type: "document", source: textSource(data.text), title };
  const source = mediaSource(part, betas);
  if (source) return mediaType.startsWith("image/") ? { type: "image", source } : { type: "document", source, title };
  if (mediaType === "text/plain" && data.type === "data") {
    const text = new TextDecoder().decode(typeof data.data === "string" ? Buffer.from(data.data, "base64") : data.data);
    return { type: "document", source: textSource(text), title };
  }
  throw new UnsupportedFunctionalityError({ functionality: `files of the type ${mediaType}` });
}

type MediaPart = Pick<Extract<Content<"user">[number], { type: "file" }>, "data" | "mediaType">;

const textSource = (data: string): object => ({ type: "text", media_type: "text/plain", data });

/** Of an image or a PDF. */
function mediaSource({ data, mediaType }: MediaPart, betas: Set<string>): object | undefined {
  const isPdf = mediaType === "application/pdf";
  if (!isPdf && (!mediaType.startsWith("image/") || (data.type === "data" && mediaType.endsWith("*"))))
    return undefined;
  if (data.type !== "url" && data.type !== "data") return undefined;
  if (isPdf) betas.add("pdfs-2024-09-25");
  return data.type === "url"
    ? { type: "url", url: data.url.toString() }
    : { type: "base64", media_type: mediaType, data: base64Of(data.data) };
}

/** `isLast`: nothing comes after it. The format allows no blank at its end then. */
function assistantBlocks(content: Content<"assistant">, isLast: boolean): Block[] {
  const parts = content.filter((part) => part.type !== "text" || part.text !== "");
  return parts.flatMap((part, at): Block[] => {
    const kept = part.providerOptions?.[PROVIDER] ?? {};
    switch (part.type) {
      case "text":
        return [{ type: "text", text: isLast && at === parts.length - 1 ? part.text.trim() : part.text }];
      case "reasoning":
        // Reasoning of another provider has no signature, and would be refused.
        if (typeof kept["signature"] === "string") {
          return [{ type: "thinking", thinking: part.text, signature: kept["signature"] }];
        }
        return typeof kept["redactedData"] === "string"
          ? [{ type: "redacted_thinking", data: kept["redactedData"] }]
          : [];
      case "tool-call": {
        const caller = isObject(kept["caller"]) && kept["caller"]["type"] === "direct" && { type: "direct" };
        const { toolCallId: id, toolName: name, input } = part;
        return [{ type: "tool_use", id, name, input: inputObject(input), ...(caller && { caller }) }];
      }
      default:
        return [];
    }
  });
}

/** The format wants an object. */
function inputObject(input: unknown): object {
  let value = input;
  if (typeof input === "string") {
    try {
      value = JSON.parse(input);
    } catch {
      return { rawInvalidInput: input };
    }
  }
  return isObject(value) ? value : { rawInvalidInput: input };
}

/** Calls come after the text beside them; reasoning stays where it was. */
function callsLast(content: readonly Block[]): Block[] {
  const ordered: Block[] = [];
  let calls: Block[] = [];
  for (const block of content) {
    if (block.type === "tool_use") calls.push(block);
    else {
      if (block.type !== "text") ordered.push(...calls.splice(0));
      ordered.push(block);
    }
  }
  return ordered.concat(calls);
}

function resultBlock(part: Content<"tool">[number], betas: Set<string>): Block[] {
  if (part.type !== "tool-result") return [];
  const { toolCallId, output } = part;
  const isError = output.type === "error-text" || output.type === "error-json";
  const content = output.type === "content" ? output.value.flatMap(shown) : resultText(output);
  return [{ type: "tool_result", tool_use_id: toolCallId, content, ...(isError && { is_error: true }) }];

  function shown(given: Extract<typeof output, { type: "content" }>["value"][number]): Block[] {
    if (given.type === "text") return [{ type: "text", text: given.text }];
    if (given.type !== "file") return [];
    const source = mediaSource(given, given.data.type === "data" ? betas : new Set());
    return source ? [{ type: given.mediaType.startsWith("image/") ? "image" : "document", source }] : [];
  }
}

type ToolOutput = Extract<Content<"tool">[number], { type: "tool-result" }>["output"];

function resultText(output: Exclude<ToolOutput, { type: "content" }>): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "execution-denied":
      return output.reason ?? "Tool call execution denied.";
    case "json":
    case "error-json":
      return JSON.stringify(output.value);
  }
}

// What comes: a whole answer.

/** Undefined: it is none that a turn asks for. */
function contentOf(block: unknown): LanguageModelV4Content | undefined {
  if (!isObject(block)) return undefined;
  const { type, text, thinking, signature, data } = block;
  if (type === "text" && typeof text === "string") return { type, text };
  if (type === "thinking" && typeof thinking === "string" && typeof signature === "string") {
    return { type: "reasoning", text: thinking, providerMetadata: { [PROVIDER]: { signature } } };
  }
  if (type === "redacted_thinking" && typeof data === "string") {
    return { type: "reasoning", text: "", providerMetadata: { [PROVIDER]: { redactedData: data } } };
  }
  if (!isCall(block)) return undefined;
  const { id: toolCallId, name: toolName, input } = block;
  return { type: "tool-call", toolCallId, toolName, input: JSON.stringify(input), ...callerOf(block) };
}

interface CallBlock {
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
  readonly caller?: { readonly type: string; readonly tool_id?: string };
}

/** Of a tool of the agent: a set of the provider's tools has a name of its own. */
function isCall(block: Record<string, unknown>): block is Record<string, unknown> & CallBlock {
  const { type, id, name, caller, toolset_name: set } = block;
  if (type !== "tool_use" || typeof id !== "string" || typeof name !== "string" || isPresent(set)) return false;
  return caller === undefined || (isObject(caller) && typeof caller["type"] === "string");
}

/** Goes back with the call. */
const callerOf = ({ caller }: CallBlock): { providerMetadata?: SharedV4ProviderMetadata } =>
  caller ? { providerMetadata: { [PROVIDER]: { caller: { type: caller.type } } } } : {};

const finishOf = (raw: string | null | undefined): LanguageModelV4FinishReason => ({
  unified: FINISH.get(raw ?? "") ?? "other",
  raw: raw ?? undefined,
});

const FINISH: ReadonlyMap<string, LanguageModelV4FinishReason["unified"]> = new Map([
  ["pause_turn", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["refusal", "content-filter"],
  ["tool_use", "tool-calls"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
]);

interface Usage {
  readonly input_tokens?: number | null | undefined;
  readonly output_tokens?: number | null | undefined;
  readonly output_tokens_details?: { readonly thinking_tokens?: number | null } | null | undefined;
  readonly cache_creation_input_tokens?: number | null | undefined;
  readonly cache_read_input_tokens?: number | null | undefined;
}

/** Of the request, which is told when the answer begins. */
const isInputUsage = (usage: unknown): usage is Usage =>
  isObject(usage) &&
  isNumberOrNone(usage["input_tokens"]) &&
  isNumberOrNone(usage["cache_creation_input_tokens"]) &&
  isNumberOrNone(usage["cache_read_input_tokens"]);

function isUsage(usage: unknown): usage is Usage & { readonly output_tokens: number } {
  if (!isInputUsage(usage) || typeof usage.output_tokens !== "number") return false;
  const { output_tokens_details: details }: { output_tokens_details?: unknown } = usage;
  return !isPresent(details) || (isObject(details) && isNumberOrNone(details["thinking_tokens"]));
}

function usageOf(usage: Usage): LanguageModelV4Usage {
  const input = usage.input_tokens ?? 0;
  const output = usage.output_tokens ?? 0;
  const cacheWrite = usage.cache_creation_input_tokens ?? 0;
  const cacheRead = usage.cache_read_input_tokens ?? 0;
  const reasoning = usage.output_tokens_details?.thinking_tokens ?? undefined;
  const text = reasoning === undefined ? undefined : output - reasoning;
  return {
    inputTokens: { total: input + cacheWrite + cacheRead, noCache: input, cacheRead, cacheWrite },
    outputTokens: { total: output, text, reasoning },
  };
}

// What comes: an answer in pieces.

type OpenBlock =
  | { readonly type: "text" | "reasoning" }
  | { readonly type: "tool-call"; readonly call: CallBlock; input: string };

type Delta = Extract<LanguageModelV4StreamPart, { type: "text-delta" | "reasoning-delta" }>;

/** Text that came at once is told at once: each piece costs a reader more than the model's whole chunk. */
class MessagesStream implements StreamedAnswer {
  readonly #take: TakePart;
  readonly #url: string;
  readonly #open = new Map<number, OpenBlock>();
  #untold: { readonly type: Delta["type"]; readonly id: string; delta: string } | undefined;
  /** Whether the provider has said anything of an answer. */
  #isBegun = false;
  /** Of the message that is open. */
  #message: { readonly id: unknown } | undefined;
  #isThinking = false;
  #finish = finishOf(undefined);
  #usage: Usage = {};

  constructor(take: TakePart, url: string) {
    this.#take = take;
    this.#url = url;
  }

  /** Throws what the provider says in place of an answer, and TypeValidationError or JSONParseError for what is none. */
  event(data: string): void {
    if (data === "[DONE]") return;
    const event = parsedEvent(data);
    if (!isObject(event) || typeof event["type"] !== "string") throw none();
    switch (event["type"]) {
      case "message_start":
        return this.#start(event["message"]);
      case "content_block_start":
        return this.#openBlock(numbered(event), event["content_block"]);
      case "content_block_delta":
        return this.#delta(numbered(event), event["delta"]);
      case "content_block_stop":
        return this.#closeBlock(numbered(event));
      case "message_delta":
        return this.#change(event["delta"], event["usage"]);
      case "message_stop":
        this.#message = undefined;
        return this.#tellPart({ type: "finish", finishReason: this.#finish, usage: usageOf(this.#usage) });
      case "error":
        throw this.#failure(event["error"]);
      default: // "ping", and events to come, which the format asks its readers to skip
    }
  }

  #start(message: unknown): void {
    if (!isObject(message) || !isTextOrNone(message["id"])) throw none();
    const { id, usage, stop_reason: stop, content } = message;
    if (!isInputUsage(usage) || typeof usage.input_tokens !== "number" || !isTextOrNone(stop)) throw none();
    if (isPresent(content) && !(Array.isArray(content) && content.length === 0)) throw none();
    this.#isBegun = true;
    if (this.#message) {
      if (this.#message.id === id) return;
      throw new InvalidResponseDataError({
        data: undefined,
        message: "A message began before the end of another one.",
      });
    }
    this.#message = { id };
    const { input_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
    this.#usage = { ...this.#usage, input_tokens, cache_creation_input_tokens, cache_read_input_tokens };
    if (typeof stop === "string") this.#finish = finishOf(stop);
  }

  #change(delta: unknown, usage: unknown): void {
    if (!isObject(delta) || !isTextOrNone(delta["stop_reason"])) throw none();
    if (!isUsage(usage)) throw none();
    const told = Object.entries(usage).filter(([, count]) => isPresent(count));
    this.#usage = { ...this.#usage, ...Object.fromEntries(told) };
    this.#finish = finishOf(delta["stop_reason"] as string | null | undefined);
  }

  #openBlock(index: number, block: unknown): void {
    if (!isObject(block)) throw none();
    const id = String(index);
    this.#isThinking = block["type"] === "thinking";
    if (block["type"] === "text" && typeof block["text"] === "string") {
      this.#open.set(index, { type: "text" });
      this.#tellPart({ type: "text-start", id });
    } else if (this.#isThinking && typeof block["thinking"] === "string") {
      this.#open.set(index, { type: "reasoning" });
      this.#tellPart({ type: "reasoning-start", id });
    } else if (block["type"] === "redacted_thinking" && typeof block["data"] === "string") {
      this.#open.set(index, { type: "reasoning" });
      const providerMetadata = { [PROVIDER]: { redactedData: block["data"] } };
      this.#tellPart({ type: "reasoning-start", id, providerMetadata });
    } else if (isCall(block) && (block.input === undefined || isObject(block.input))) {
      const { input = {} } = block;
      const isEmpty = Object.keys(input as object).length === 0;
      this.#open.set(index, { type: "tool-call", call: block, input: isEmpty ? "" : JSON.stringify(input) });
      this.#tellPart({ type: "tool-input-start", id: block.id, toolName: block.name });
    } else throw none();
  }

  #delta(index: number, delta: unknown): void {
    if (!isObject(delta)) throw none();
    const id = String(index);
    const { type, text, thinking, signature, partial_json: json } = delta;
    if (type === "text_delta" && typeof text === "string") this.#grow("text-delta", id, text);
    else if (type === "thinking_delta" && typeof thinking === "string") this.#grow("reasoning-delta", id, thinking);
    else if (type === "signature_delta" && typeof signature === "string") {
      if (!this.#isThinking) return;
      const providerMetadata = { [PROVIDER]: { signature } };
      this.#tellPart({ type: "reasoning-delta", id, delta: "", providerMetadata });
    } else if (type === "input_json_delta" && typeof json === "string") {
      const block = this.#open.get(index);
      if (json === "" || block?.type !== "tool-call") return;
      block.input += json;
      this.#tellPart({ type: "tool-input-delta", id: block.call.id, delta: json });
    } else throw none();
  }

  #closeBlock(index: number): void {
    const block = this.#open.get(index);
    this.#open.delete(index);
    this.#isThinking = false;
    if (!block) return;
    if (block.type !== "tool-call") return this.#tellPart({ type: `${block.type}-end`, id: String(index) });
    const { call, input } = block;
    this.#tellPart({ type: "tool-input-end", id: call.id });
    this.#tellPart({
      type: "tool-call",
      toolCallId: call.id,
      toolName: call.name,
      input: input === "" ? "{}" : input,
      ...callerOf(call),
    });
  }

  #grow(type: Delta["type"], id: string, delta: string): void {
    if (this.#untold?.type !== type || this.#untold.id !== id) {
      this.tell();
      this.#untold = { type, id, delta: "" };
    }
    this.#isBegun = true;
    this.#untold.delta += delta;
  }

  #tellPart(part: LanguageModelV4StreamPart): void {
    this.tell();
    this.#isBegun = true;
    this.#take(part);
  }

  tell(): void {
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold) this.#take(untold);
  }

  /** An answer without its `finish` part has broken off: the turn checks that. */
  end(): void {
    this.tell();
  }

  /**
   * An error amid an answer of the status 200, with the status that its kind would have had. Before an answer has begun it is a
   * refusal as any other.
   */
  #failure(error: unknown): unknown {
    if (!isObject(error) || typeof error["message"] !== "string" || typeof error["type"] !== "string") return none();
    const statusCode = ERRORS.get(error["type"]);
    const isRetryable = statusCode !== undefined && (statusCode === 429 || statusCode >= 500);
    if (this.#isBegun) return { data: error, ...(statusCode !== undefined && { statusCode, isRetryable }) };
    return new APICallError({
      message: "The provider answers with an error.",
      url: this.#url,
      requestBodyValues: undefined,
      statusCode: statusCode ?? 500,
      responseBody: JSON.stringify(error),
      isRetryable,
    });
  }
}

/** https://docs.claude.com/en/api/errors */
const ERRORS: ReadonlyMap<string, number> = new Map([
  ["api_error", 500],
  ["overloaded_error", 529],
  ["rate_limit_error", 429],
  ["request_too_large", 413],
  ["authentication_error", 401],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["billing_error", 400],
  ["invalid_request_error", 400],
]);

function numbered(event: Record<string, unknown>): number {
  const { index } = event;
  if (typeof index !== "number") throw none();
  return index;
}

const none = (): TypeValidationError =>
  new TypeValidationError({ value: undefined, cause: "not an event of an answer" });
