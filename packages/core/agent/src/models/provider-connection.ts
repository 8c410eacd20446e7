/**
 * The connections to one model provider, by undici's dispatcher: an exchange takes a third of the processor time that it takes
 * `node:http`, and an eighth of `fetch` (docs/decisions/0018). Redirects are never followed: the key would go along. Errors are
 * those of the AI SDK's provider interface and hold neither the request nor the key.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { validateHeaderValue } from "node:http";
import { createBrotliDecompress, createGunzip, createInflate, type BrotliDecompress, type Gunzip } from "node:zlib";
import { APICallError } from "@ai-sdk/provider";
import { currentScope } from "@svc/runtime";
import { Client, type Dispatcher, EnvHttpProxyAgent } from "undici";

export interface ConnectionOptions {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Posted {
  readonly body: string;
  /** Besides those of each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Called once, with the head of the reply; the result takes its body. What either throws ends the exchange. */
export type ReplyReader = (reply: Reply) => TakeChunk;

type TakeChunk = (chunk: Buffer) => void;

/** Many servers close an idle connection after five seconds, and a request that meets the close fails. */
const IDLE_MS = 4_000;
const CONNECT_MS = 10_000;
/** Without a byte. The limit of the turn is seldom longer. */
const SILENCE_MS = 300_000;
const CLIENT_OPTIONS = {
  allowH2: false,
  connect: { timeout: CONNECT_MS, allowH2: false },
  headersTimeout: SILENCE_MS,
  bodyTimeout: SILENCE_MS,
  keepAliveTimeout: IDLE_MS,
};
/** Of one reply, after decompression. The longest answers are some ten megabytes as a stream. */
const MAX_REPLY_BYTES = 128 * 1024 * 1024;

export class ProviderConnection {
  readonly #baseUrl: URL;
  readonly #basePath: string;
  readonly #headers: Readonly<Record<string, string>>;
  /** Names and values in turn, as they are sent. */
  readonly #headerList: string[];
  /** Each is used by one request at a time, and opens its connection again where that was closed. */
  readonly #free: Dispatcher[] = [];

  constructor({ baseUrl, headers }: ConnectionOptions) {
    this.#baseUrl = new URL(baseUrl);
    this.#basePath = this.#baseUrl.pathname.replace(/\/$/, "");
    this.#headers = { accept: "*/*", "user-agent": "svc", ...headers, "content-type": "application/json" };
    this.#headerList = Object.entries(this.#headers).flat();
  }

  /** Resolves when the whole body was read. Rejects with APICallError, the signal's reason, or what `read` throws. */
  async post(
    path: string,
    { body, headers }: Posted,
    signal: AbortSignal | undefined,
    read: ReplyReader,
  ): Promise<void> {
    signal?.throwIfAborted();
    const dispatcher = this.#free.pop() ?? this.#open();
    const { traceparent } = currentScope();
    const { origin, search } = this.#baseUrl;
    const request: Dispatcher.DispatchOptions = {
      origin,
      path: `${this.#basePath}${path}${search}`,
      method: "POST",
      headers: this.#headerList.concat(
        headers ? Object.entries(headers).flat() : [],
        traceparent === undefined ? [] : ["traceparent", traceparent],
      ),
      body,
    };
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(signal, read, (error, isNetwork, status) => {
        if (error === undefined) {
          this.#free.push(dispatcher);
          resolve();
        } else {
          reject(isNetwork ? this.#networkError(path, error, status) : error);
          void dispatcher.destroy();
        }
      });
      dispatcher.dispatch(request, exchange);
    });
  }

  #open(): Dispatcher {
    for (const [name, value] of Object.entries(this.#headers)) validateHeaderValue(name, value);
    // As the runtime's own fetch reads the variables: only where the operator asks for it.
    const usesProxy = process.env["NODE_USE_ENV_PROXY"] === "1";
    return usesProxy ? new EnvHttpProxyAgent(CLIENT_OPTIONS) : new Client(this.#baseUrl.origin, CLIENT_OPTIONS);
  }

  #networkError(path: string, cause: unknown, statusCode: number | undefined): APICallError {
    return new APICallError({
      message: "The exchange with the model provider failed.",
      url: `${this.#baseUrl.origin}${this.#basePath}${path}`,
      requestBodyValues: undefined,
      cause,
      isRetryable: true,
      ...(statusCode !== undefined && { statusCode }),
    });
  }
}

/** `error`: undefined where the whole body was read. `isNetwork`: the connection or the protocol failed. */
type OnOver = (error: unknown, isNetwork: boolean, status: number | undefined) => void;

/** One request and its reply. The dispatcher calls it in the scope of the call that opened the connection. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal | undefined;
  readonly #read: ReplyReader;
  readonly #onOver: OnOver;
  readonly #inScope = AsyncLocalStorage.snapshot();
  #status: number | undefined;
  #take: TakeChunk | undefined;
  #decoder: Decoder | undefined;
  #isOver = false;

  constructor(signal: AbortSignal | undefined, read: ReplyReader, onOver: OnOver) {
    this.#signal = signal;
    this.#read = read;
    this.#onOver = onOver;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => this.#fail(this.#signal!.reason, false);

  onRequestStart(): void {}

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#guarded(() => {
      this.#take = limited(this.#read({ status, headers: textHeaders(headers) }));
      this.#decoder = decoderOf(headers["content-encoding"]);
    });
    this.#decoder
      ?.on("data", (chunk: Buffer) => this.#guarded(() => this.#take!(chunk)))
      .on("end", () => this.#end())
      .on("error", (error) => this.#fail(error, true))
      .on("drain", () => controller.resume());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#decoder) this.#guarded(() => this.#take!(chunk));
    else if (!this.#isOver && !this.#decoder.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#decoder) this.#decoder.end();
    else this.#end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error, true);
  }

  #guarded(work: () => void): void {
    if (this.#isOver) return;
    try {
      this.#inScope(work);
    } catch (error) {
      this.#fail(error, false);
    }
  }

  #end(): void {
    if (this.#close()) this.#onOver(undefined, false, this.#status);
  }

  #fail(error: unknown, isNetwork: boolean): void {
    if (!this.#close()) return;
    this.#decoder?.destroy();
    this.#onOver(error, isNetwork, this.#status);
  }

  /** False where it was over already. */
  #close(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    return true;
  }
}

function limited(take: TakeChunk): TakeChunk {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.length;
    if (bytes > MAX_REPLY_BYTES) throw new ReplyTooLong();
    take(chunk);
  };
}

/** Told as an answer that can't be understood, and not asked for again. */
class ReplyTooLong extends Error {
  override readonly name = "ReplyTooLong";
}

type Decoder = Gunzip | BrotliDecompress;

/** No encoding is asked for; some servers compress all the same. */
function decoderOf(header: string | string[] | undefined): Decoder | undefined {
  switch (String(header).toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "br":
      return createBrotliDecompress();
    case "deflate":
      return createInflate();
    default:
      return undefined;
  }
}

function textHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) texts[name] = typeof value === "string" ? value : value.join(", ");
  }
  return texts;
}
