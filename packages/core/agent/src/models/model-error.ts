/**
 * What went wrong with the provider, as our errors. Its own words are never repeated, not even as a cause: they can quote
 * the key or the conversation, and so can the request that the library hangs on its errors. What is told are the status,
 * the network's error code, and words out of lists of our own.
 */
import { SvcError } from "@svc/contract";

/** The parts that we read of the AI SDK's APICallError, of its stream errors, and of an error frame sent as it came. */
interface ProviderError {
  readonly statusCode?: unknown;
  readonly isRetryable?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: unknown;
  readonly data?: unknown;
  readonly code?: unknown;
}

/** Whether trying the same call again can help. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof SvcError) return error.code === "MODEL_UNREACHABLE";
  // Cut off or garbled in a way that another answer need not be; the library leaves its retrying open.
  if (error instanceof Error && error.name === "AI_InvalidResponseDataError") return true;
  const told = fieldsOf(error).isRetryable;
  if (typeof told === "boolean") return told;
  const status = statusOf(error);
  return status !== undefined && (status === 408 || status === 409 || status === 429 || status >= 500);
}

/** Whether the model, busy or in trouble now, may answer the same call some minutes later. */
export const mayPass = (error: SvcError): boolean => error.code === "MODEL_UNREACHABLE" || passing.has(error);

/** Refusals that are none of the request. */
const passing = new WeakSet<SvcError>();

/** Whether the provider refuses what it was sent, and would refuse it in every request to come. */
export const isRefusedContent = (error: SvcError): boolean => contentRefusals.has(error);

const contentRefusals = new WeakSet<SvcError>();
const CONTENT_STATUSES: ReadonlySet<number | undefined> = new Set([400, 413, 422]);

/** The provider did answer, in a way that can't be read. */
export function wasAnswered(error: unknown): boolean {
  const status = statusOf(error);
  return status !== undefined && status < 300;
}

/** Milliseconds the provider asks us to wait (`retry-after-ms`, else `retry-after` in seconds or as an HTTP date). */
export function retryAfterMs(error: unknown, nowMs: number): number | undefined {
  const headers = fieldsOf(error).responseHeaders;
  const millis = Number(headers?.["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(millis) && millis >= 0) return millis;
  const value = headers?.["retry-after"];
  if (value === undefined) return undefined;
  const fromSeconds = Number(value) * 1000;
  if (Number.isFinite(fromSeconds)) return Math.max(0, fromSeconds);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** `askedMs`: how long the provider asks to be left alone. */
export function modelError(error: unknown, askedMs?: number): SvcError {
  if (error instanceof SvcError) return error;
  const made = toldError(error, askedMs);
  // What broke off in the middle had been taken at first.
  const wasTaken = statusOf(error) === undefined && !(error instanceof Error);
  if (wasTaken || isRetryable(error)) passing.add(made);
  else if (CONTENT_STATUSES.has(statusOf(error))) contentRefusals.add(made);
  return made;
}

function toldError(error: unknown, askedMs: number | undefined): SvcError {
  const wait = askedMs === undefined ? {} : { retryAfterMs: askedMs };
  const status = statusOf(error);
  const words = knownWords(error);
  const hint = words.map((word) => WORDS[word]).find(Boolean);
  const why = words.length > 0 ? ` (${words.join(", ")})` : "";
  if (status !== undefined && status >= 300) {
    const options = { hint: hint ?? hintOf(status), ...wait };
    return new SvcError("MODEL_REFUSED", `The model provider answered ${status}${why}.`, options);
  }
  if (!(error instanceof Error)) {
    return new SvcError("MODEL_REFUSED", `The model provider broke off its answer with an error${why}.`, {
      hint: hint ?? "Try again.",
    });
  }
  const network = networkCodeOf(error);
  if (network !== undefined || (status === undefined && isRetryable(error))) {
    const code = network === undefined ? "" : ` (${network})`;
    return new SvcError("MODEL_UNREACHABLE", `The connection to the model provider failed${code}.`, {
      hint: "Check model.base_url and the network.",
    });
  }
  const kind = /^\w{1,64}$/.test(error.name) ? ` (${error.name})` : "";
  return new SvcError("MODEL_UNREACHABLE", `The model provider's answer can't be understood${kind}.`, {
    hint: "Check that model.provider is what model.base_url speaks.",
  });
}

function fieldsOf(error: unknown): ProviderError {
  return typeof error === "object" && error !== null ? error : {};
}

/** The HTTP status; in an error frame amid a stream some servers put it where others have a word. */
function statusOf(error: unknown): number | undefined {
  const { statusCode, code } = fieldsOf(error);
  const status = typeof statusCode === "number" ? statusCode : error instanceof Error ? Number.NaN : Number(code);
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : undefined;
}

/** The runtime's own code of a broken connection, e.g. ECONNREFUSED, from anywhere in the chain of causes. */
function networkCodeOf(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; current instanceof Error && depth < 8; depth += 1) {
    const { code } = current as { code?: unknown };
    if (typeof code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(code)) return code;
    current = current.cause;
  }
  return undefined;
}

/** What we can say of the provider's reasons: words that it and we know. */
function knownWords(error: unknown): string[] {
  const { responseBody, data } = fieldsOf(error);
  // An Error itself is never searched: the library's own hold the request, conversation and all.
  const frame = data ?? (error instanceof Error ? undefined : error);
  const text = typeof responseBody === "string" ? responseBody : JSON.stringify(frame ?? null);
  if (text.length > 100_000) return [];
  const said = new Set(Array.from(text.matchAll(/"(?:type|code|param)"\s*:\s*"([a-z_]{1,40})/g), (match) => match[1]!));
  return [...said].filter((word) => Object.hasOwn(WORDS, word));
}

function hintOf(status: number): string {
  if (status < 400) return "model.base_url redirects; set the address it leads to.";
  return HINTS[status] ?? (status >= 500 ? "The provider is in trouble; try later." : "Check [model] in config.toml.");
}

const HINTS: Readonly<Record<number, string>> = {
  401: "Check model.api_key.",
  403: "Check that the key may use this model.",
  404:
    "Check model.name and model.base_url. A server that speaks only Chat Completions needs " +
    'provider = "openai-compatible".',
  413: "Lower agent.history_max_tokens.",
  429: "The provider's limit or the account's credit is used up; try later.",
};

/** Error types, codes and parameters of the providers' error bodies that help, with what to do where that is sure. */
const WORDS: Readonly<Record<string, string | undefined>> = {
  invalid_api_key: "Check model.api_key.",
  authentication_error: "Check model.api_key.",
  permission_error: "Check that the key may use this model.",
  model_not_found: "Check model.name.",
  not_found_error: "Check model.name.",
  context_length_exceeded: "Lower agent.history_max_tokens.",
  request_too_large: "Lower agent.history_max_tokens.",
  insufficient_quota: "The account's credit is used up.",
  billing_error: "The account's credit is used up.",
  rate_limit_exceeded: undefined,
  rate_limit_error: undefined,
  overloaded_error: undefined,
  server_error: undefined,
  unsupported_parameter: undefined,
  unsupported_value: undefined,
  invalid_function_parameters: undefined,
  content_policy_violation: undefined,
  max_tokens: "Check model.max_output_tokens.",
  max_output_tokens: "Check model.max_output_tokens.",
  max_completion_tokens: "Check model.max_output_tokens.",
  tools: undefined,
  messages: undefined,
  input: undefined,
};
