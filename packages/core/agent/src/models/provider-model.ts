/**
 * What the models have in common that are asked over HTTP by a client of ours: one exchange for each call, an answer that comes
 * whole or as server-sent events, refusals, and what is not supported. A format of requests and answers is a class of its own.
 */
import {
  APICallError,
  JSONParseError,
  type LanguageModelV4CallOptions,
  type LanguageModelV4FunctionTool,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4StreamPart,
  type LanguageModelV4StreamResult,
  UnsupportedFunctionalityError,
} from "@ai-sdk/provider";
import type { PushingModel, TakePart } from "./agent-models.ts";
import { EventStreamReader } from "./event-stream.ts";
import type { ConnectionOptions, ProviderConnection, Reply, ReplyReader } from "./provider-connection.ts";

export interface ProviderModelOptions {
  readonly modelId: string;
  readonly baseUrl: string;
  /** Empty: none is sent. */
  readonly apiKey: string;
}

export interface ProviderRequest {
  /** JSON. */
  readonly body: string;
  /** Besides those of each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that comes in pieces. All three throw what it fails with. */
export interface StreamedAnswer {
  event(data: string): void;
  /** Every event received so far has been handled. */
  tell(): void;
  end(): void;
}

export abstract class ProviderModel implements PushingModel {
  readonly specificationVersion = "v4";
  readonly supportedUrls = {};
  readonly modelId: string;
  abstract readonly provider: string;
  readonly #path: string;
  readonly #url: string;
  readonly #target: ConnectionOptions;
  #connection: ProviderConnection | undefined;

  constructor({ modelId, baseUrl }: ProviderModelOptions, path: string, headers: Readonly<Record<string, string>>) {
    this.modelId = modelId;
    this.#path = path;
    this.#url = baseUrl;
    this.#target = { baseUrl, headers };
  }

  protected abstract request(options: LanguageModelV4CallOptions, isStream: boolean): ProviderRequest;

  /** Undefined: the value is no answer of this format. */
  protected abstract answerOf(value: unknown): LanguageModelV4GenerateResult | undefined;

  protected abstract streamedAnswer(take: TakePart): StreamedAnswer;

  async doGenerate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    let whole: { readonly reply: Reply; readonly text: () => string } | undefined;
    await this.#post(options, false, (reply) => {
      const chunks: Buffer[] = [];
      whole = { reply, text: () => textOf(chunks) };
      return (chunk) => chunks.push(chunk);
    });
    const { reply, text } = whole!;
    return this.#parsedReply(text(), reply);
  }

  doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    return streamOf(this, options);
  }

  async pushParts(options: LanguageModelV4CallOptions, take: TakePart): Promise<void> {
    const answer = this.streamedAnswer(take);
    await this.#post(options, true, () => {
      take({ type: "stream-start", warnings: [] });
      const events = new EventStreamReader((data) => answer.event(data));
      return (chunk) => {
        try {
          events.push(chunk);
        } finally {
          answer.tell();
        }
      };
    });
    answer.end();
  }

  /** Rejects with APICallError where the provider refuses. */
  async #post(options: LanguageModelV4CallOptions, isStream: boolean, read: ReplyReader): Promise<void> {
    refuseUnsupported(options);
    const request = this.request(options, isStream);
    const connection = this.#connection ?? (await this.#connect());
    let refusal: { readonly reply: Reply; readonly chunks: Buffer[] } | undefined;
    await connection.post(this.#path, request, options.abortSignal, (reply) => {
      if (reply.status >= 200 && reply.status < 300) return read(reply);
      const chunks: Buffer[] = [];
      let bytes = 0;
      refusal = { reply, chunks };
      return (chunk) => {
        bytes += chunk.length;
        if (bytes > MAX_REFUSAL_BYTES) throw refusedBy(reply, "", this.#url);
        chunks.push(chunk);
      };
    });
    if (refusal) throw refusedBy(refusal.reply, textOf(refusal.chunks), this.#url);
  }

  /** Its client of HTTP is loaded at the first call: a start and an idle service do without it. */
  async #connect(): Promise<ProviderConnection> {
    const { ProviderConnection } = await import("./provider-connection.ts");
    return (this.#connection ??= new ProviderConnection(this.#target));
  }

  #parsedReply(text: string, { status, headers }: Reply): LanguageModelV4GenerateResult {
    let value: unknown;
    let cause: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      cause = error;
    }
    const answer = this.answerOf(value);
    if (answer) return answer;
    throw new APICallError({
      message: "The answer is none of this provider's format.",
      url: this.#url,
      requestBodyValues: undefined,
      statusCode: status,
      responseHeaders: headers,
      responseBody: text,
      cause,
    });
  }
}

/** `doStream` for a model that pushes. Resolves when the answer begins. */
async function streamOf(
  model: Pick<PushingModel, "pushParts">,
  options: LanguageModelV4CallOptions,
): Promise<{ stream: ReadableStream<LanguageModelV4StreamPart> }> {
  const cancelled = new AbortController();
  const { abortSignal } = options;
  const signal = abortSignal ? AbortSignal.any([abortSignal, cancelled.signal]) : cancelled.signal;
  const begun = Promise.withResolvers<void>();
  let isBegun = false;
  const stream = new ReadableStream<LanguageModelV4StreamPart>({
    start(controller) {
      const take: TakePart = (part) => {
        isBegun = true;
        begun.resolve();
        controller.enqueue(part);
      };
      const end = (): void => {
        begun.resolve();
        // A cancelled stream is closed already, and takes nothing more.
        if (!cancelled.signal.aborted) controller.close();
      };
      const fail = (error: unknown): void => {
        if (!isBegun) return begun.reject(error);
        // As a part of the stream: failing the stream would drop the parts that are not read yet.
        if (cancelled.signal.aborted) return;
        controller.enqueue({ type: "error", error });
        controller.close();
      };
      model.pushParts({ ...options, abortSignal: signal }, take).then(end, fail);
    },
    cancel: (reason) => cancelled.abort(reason),
  });
  await begun.promise;
  return { stream };
}

/** No provider explains itself at such length. */
const MAX_REFUSAL_BYTES = 1024 * 1024;

/** A turn sets none of these; what is left out in silence would be missed. */
const UNSUPPORTED = [
  "temperature",
  "topP",
  "topK",
  "presencePenalty",
  "frequencyPenalty",
  "stopSequences",
  "responseFormat",
  "seed",
  "toolChoice",
  "reasoning",
  "providerOptions",
  "headers",
  "includeRawChunks",
] as const satisfies readonly (keyof LanguageModelV4CallOptions)[];

function refuseUnsupported(options: LanguageModelV4CallOptions): void {
  for (const functionality of UNSUPPORTED) {
    if (options[functionality] !== undefined) throw new UnsupportedFunctionalityError({ functionality });
  }
}

type Tool = NonNullable<LanguageModelV4CallOptions["tools"]>[number];

/** Tools as JSON, each serialised once: a tool's schema is as long as many a conversation, and goes with each step. */
export class ToolTexts {
  readonly #texts = new WeakMap<Tool, string>();
  readonly #describe: (tool: LanguageModelV4FunctionTool) => object;

  /** `describe`: what is sent of a tool. */
  constructor(describe: (tool: LanguageModelV4FunctionTool) => object) {
    this.#describe = describe;
  }

  of(tool: Tool): string {
    const known = this.#texts.get(tool);
    if (known !== undefined) return known;
    if (tool.type !== "function") throw new UnsupportedFunctionalityError({ functionality: "a provider's own tool" });
    const text = JSON.stringify(this.#describe(tool));
    this.#texts.set(tool, text);
    return text;
  }
}

const refusedBy = ({ status, headers }: Reply, responseBody: string, url: string): APICallError =>
  new APICallError({
    message: "The provider refuses.",
    url,
    requestBodyValues: undefined,
    statusCode: status,
    responseHeaders: headers,
    responseBody,
  });

/** Without the mark of the byte order. */
const textOf = (chunks: readonly Buffer[]): string =>
  new TextDecoder().decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));

// What is taken for an answer at all is checked by hand: a schema library takes longer than all the rest.

export const isPresent = (value: unknown): boolean => value !== undefined && value !== null;
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const isTextOrNone = (value: unknown): boolean => !isPresent(value) || typeof value === "string";
export const isNumberOrNone = (value: unknown): boolean => !isPresent(value) || typeof value === "number";

/** Throws JSONParseError. The whole text is not kept in the error: it may have the conversation in it. */
export function parsedEvent(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new JSONParseError({ text: "", cause });
  }
}

/** In base64. */
export const base64Of = (data: string | Uint8Array): string =>
  typeof data === "string" ? data : Buffer.from(data).toString("base64");
