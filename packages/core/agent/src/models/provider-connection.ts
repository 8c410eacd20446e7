/**
 * The connections to one model provider. `fetch` takes four times the processor time of `node:http` for the same exchange
 * (docs/decisions/0018). Redirects are never followed: the key would go along. Errors are those of the AI SDK's provider
 * interface and hold neither the request nor the key.
 */
import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { urlToHttpOptions } from "node:url";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { APICallError } from "@ai-sdk/provider";
import { currentScope } from "@svc/runtime";

export interface ConnectionOptions {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Called once, with the head of the reply; the result takes its body. What either throws ends the exchange. */
export type ReplyReader = (reply: Reply) => (chunk: Buffer) => void;

/** Many servers close an idle connection after five seconds, and a request that meets the close fails. */
const IDLE_MS = 4_000;
const CONNECT_MS = 10_000;
/** Without a byte. The limit of the turn is seldom longer. */
const SILENCE_MS = 300_000;
/** Of one reply, after decompression. The longest answers are some ten megabytes as a stream. */
const MAX_REPLY_BYTES = 128 * 1024 * 1024;

export class ProviderConnection {
  readonly #baseUrl: URL;
  readonly #basePath: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #send: typeof httpRequest;
  readonly #agent: HttpAgent;
  readonly #target: ReturnType<typeof urlToHttpOptions>;

  constructor({ baseUrl, headers }: ConnectionOptions) {
    this.#baseUrl = new URL(baseUrl);
    this.#basePath = this.#baseUrl.pathname.replace(/\/$/, "");
    this.#headers = { accept: "*/*", "user-agent": "svc", ...headers };
    const isTls = this.#baseUrl.protocol === "https:";
    // As the runtime's own fetch and agent read the variables: only where the operator asks for it.
    const usesProxy = process.env["NODE_USE_ENV_PROXY"] === "1";
    const options = { keepAlive: true, timeout: IDLE_MS, ...(usesProxy && { proxyEnv: process.env }) };
    this.#agent = isTls ? new HttpsAgent(options) : new HttpAgent(options);
    this.#send = isTls ? httpsRequest : httpRequest;
    this.#target = urlToHttpOptions(this.#baseUrl);
  }

  /** Resolves when the whole body was read. Rejects with APICallError, the signal's reason, or what `read` throws. */
  post(path: string, body: string, signal: AbortSignal | undefined, read: ReplyReader): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const request = this.#request(path, body);
      let status: number | undefined;
      const fail = (error: unknown): void => {
        signal?.removeEventListener("abort", onAbort);
        request.destroy();
        reject(error);
      };
      const failNetwork = (cause: unknown): void => fail(this.#networkError(path, cause, status));
      const onAbort = (): void => fail(signal!.reason);
      signal?.addEventListener("abort", onAbort, { once: true });
      request.on("error", failNetwork);
      request.on("timeout", () => failNetwork(timeout("no answer in time")));
      request.on("response", (response) => {
        status = response.statusCode ?? 0;
        try {
          const take = limited(read({ status, headers: textHeaders(response.headers) }));
          const decoded = decodedBody(response);
          decoded.on("data", (chunk: Buffer) => {
            try {
              take(chunk);
            } catch (error) {
              fail(error);
            }
          });
          decoded.on("end", () => {
            signal?.removeEventListener("abort", onAbort);
            resolve();
          });
          decoded.on("error", failNetwork);
          if (decoded !== response) response.on("error", failNetwork);
        } catch (error) {
          fail(error);
        }
      });
      request.end(body);
    });
  }

  #request(path: string, body: string): ClientRequest {
    const { traceparent } = currentScope();
    const request = this.#send({
      ...this.#target,
      path: `${this.#basePath}${path}${this.#baseUrl.search}`,
      method: "POST",
      agent: this.#agent,
      timeout: SILENCE_MS,
      headers: {
        ...this.#headers,
        ...(traceparent !== undefined && { traceparent }),
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
      },
    });
    request.once("socket", (socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(() => request.destroy(timeout("no connection in time")), CONNECT_MS);
      const stop = (): void => clearTimeout(timer);
      socket.once("connect", stop);
      socket.once("close", stop);
    });
    return request;
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

const timeout = (message: string): Error => Object.assign(new Error(message), { code: "ETIMEDOUT" });

function limited(take: (chunk: Buffer) => void): (chunk: Buffer) => void {
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

/** No encoding is asked for; some servers compress all the same. */
function decodedBody(response: IncomingMessage): NodeJS.ReadableStream {
  const encoding = response.headers["content-encoding"]?.toLowerCase();
  if (encoding === undefined || encoding === "identity") return response;
  if (encoding === "gzip" || encoding === "x-gzip") return response.pipe(createGunzip());
  if (encoding === "br") return response.pipe(createBrotliDecompress());
  if (encoding === "deflate") return response.pipe(createInflate());
  return response;
}

function textHeaders(headers: IncomingMessage["headers"]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) texts[name] = typeof value === "string" ? value : value.join(", ");
  }
  return texts;
}
