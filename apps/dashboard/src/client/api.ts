/** Requests to the daemon. The browser sends the cookie by itself; the daemon accepts it only with the csrf value beside it. */
import { t } from "../texts/texts.ts";

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface Credentials {
  /** Undefined: not signed in. */
  csrf(): string | undefined;
  /** The daemon refused this csrf value. Resolves with true if the request can be sent again with another one. */
  refused(csrf: string): Promise<boolean>;
}

export interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export interface StreamedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
}

export class Api {
  readonly #credentials: Credentials;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  /** Throws ApiError, or the signal's reason after an abort. */
  async call<Answer>(path: string, call: Call = {}): Promise<Answer> {
    const response = await this.#send(path, call);
    return response.status === 204 ? (undefined as Answer) : ((await response.json()) as Answer);
  }

  /** Fetches a file and its name. Throws as `call`. */
  async file(path: string, query?: Query): Promise<{ readonly name: string; readonly bytes: Blob }> {
    const response = await this.#send(path, { ...(query && { query }) });
    const [, name = "file"] = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "") ?? [];
    return { name, bytes: await response.blob() };
  }

  /** Sends raw bytes. Throws as `call`. */
  async upload<Answer>(path: string, upload: Upload): Promise<Answer> {
    const csrf = this.#credentials.csrf();
    const headers = { ...upload.headers, ...(csrf !== undefined && { "X-Svc-Csrf": csrf }) };
    const answer = await answerOf<Answer>(await uploaded(path, { ...upload, headers }));
    if (!(answer instanceof ApiError)) return answer;
    if (answer.status !== 401 || csrf === undefined || !(await this.#credentials.refused(csrf))) throw answer;
    return this.upload(path, upload);
  }

  async #send(path: string, call: Call): Promise<Response> {
    const csrf = this.#credentials.csrf();
    const response = await send(path, call, csrf === undefined ? {} : { "X-Svc-Csrf": csrf });
    if (response.ok) return response;
    const error = await errorOf(response);
    if (error.status !== 401 || csrf === undefined) throw error;
    // Another tab may have signed in meanwhile and replaced the cookie; the csrf value must match it.
    if (await this.#credentials.refused(csrf)) return this.#send(path, call);
    throw error;
  }

  /**
   * Server-sent events of a path, from after the event of that id. Ends when the service ends them; the caller may then ask again. Throws
   * as `call`.
   */
  async *stream(path: string, lastEventId: string, signal: AbortSignal): AsyncGenerator<StreamedEvent> {
    const headers = { Accept: "text/event-stream", "Last-Event-ID": lastEventId };
    const response = await this.#send(path, { headers, signal });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        const blocks = (text + read.value).split("\n\n");
        text = blocks.pop()!;
        for (const block of blocks) {
          const lines = block.split("\n");
          const field = (name: string): string =>
            lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
          const data = field("data");
          if (data !== "") yield { id: field("id"), type: field("event"), data: JSON.parse(data) as unknown };
        }
      }
    } catch (error) {
      if (signal.aborted) throw error;
      throw asApiError(error);
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }

  get<Answer>(path: string, query?: Query, signal?: AbortSignal): Promise<Answer> {
    return this.call(path, { ...(query && { query }), signal });
  }
}

/** Throws ApiError when there is no answer. */
export async function send(path: string, call: Call, more: Readonly<Record<string, string>>): Promise<Response> {
  const { method = "GET", query, body, headers, signal } = call;
  try {
    return await fetch(path + queryText(query), {
      method,
      headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers, ...more },
      body: body === undefined ? null : JSON.stringify(body),
      credentials: "same-origin",
      cache: "no-store",
      redirect: "error",
      signal: signal ?? null,
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw asApiError(error);
  }
}

function queryText(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  if (given.length === 0) return "";
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`;
}

/** Builds a path; values are percent-encoded. */
export function path(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return parts.reduce((text, part, index) => text + encodeURIComponent(values[index - 1] ?? "") + part);
}

/** One file to upload. XMLHttpRequest reports progress; `fetch` does not. */
interface Upload {
  readonly bytes: Blob;
  readonly headers: Readonly<Record<string, string>>;
  /** 0 to 1. */
  readonly onProgress?: (part: number) => void;
  readonly signal: AbortSignal;
}

/** Throws ApiError, or the signal's reason after an abort. */
function uploaded(path: string, { bytes, headers, onProgress, signal }: Upload): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const cancel = (): void => {
      request.abort();
      reject(signal.reason as Error);
    };
    if (signal.aborted) return cancel();
    signal.addEventListener("abort", cancel);
    const settle = (act: () => void) => (): void => {
      signal.removeEventListener("abort", cancel);
      act();
    };
    request.open("POST", path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress?.(total === 0 ? 0 : loaded / total));
    request.addEventListener(
      "load",
      settle(() => resolve(new Response(request.responseText, { status: request.status }))),
    );
    request.addEventListener(
      "error",
      settle(() => reject(asApiError(undefined))),
    );
    request.send(bytes);
  });
}

/** The answer, or the error of the response. */
async function answerOf<Answer>(response: Response): Promise<Answer | ApiError> {
  return response.ok ? ((await response.json()) as Answer) : errorOf(response);
}

/** An error answer of the daemon, or the reason why there is no answer. */
export class ApiError extends Error {
  /** Stable; `UNREACHABLE` without an answer, `NOT_JSON` for an answer from another program. */
  readonly code: string;
  /** 0: no answer. */
  readonly status: number;
  readonly retryAfterSecs: number | undefined;
  /** The message is the page's own, in its language. Messages of the daemon are English. */
  readonly isOwn: boolean;
  /** All fields of the error answer. */
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    status = 0,
    fields: Readonly<Record<string, unknown>> = {},
    isOwn = status === 0,
  ) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.fields = fields;
    this.isOwn = isOwn;
    const after = fields["retry_after"];
    this.retryAfterSecs = typeof after === "number" ? after : undefined;
  }
}

/** The error of an unsuccessful response. */
export async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => undefined)) as Readonly<Record<string, unknown>> | undefined;
  const { code, error } = body ?? {};
  if (typeof code !== "string" || typeof error !== "string") {
    return new ApiError(
      "NOT_JSON",
      t("api.the-service-answered-in-a", { status: response.status }),
      response.status,
      {},
      true,
    );
  }
  return new ApiError(code, error, response.status, body);
}

export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError("UNREACHABLE", t("api.the-service-does-not-answer"));

/** Starts a download in the browser. */
export function saveFile({ name, bytes }: { readonly name: string; readonly bytes: Blob }): void {
  const address = URL.createObjectURL(bytes);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has started to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
