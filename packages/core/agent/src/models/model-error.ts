/**
 * Failures of a model provider as errors of ours: a reason out of a fixed list, a sentence and the fix. These never repeat the
 * provider's words, which can quote the key, the account or the conversation. `said` has those words without secrets and cut
 * short; it is for operators only. No cause is kept: the library hangs the request on its errors, conversation and all.
 */
import { type ModelFailureReason, SvcError, waitText } from "@svc/contract";
import { DEFAULT_AGENT } from "@svc/config";
import { fieldsOf, networkCodeOf, providerText, rawBody, statusOf } from "./provider-error.ts";
import { quotedWithoutSecrets } from "./provider-words.ts";
import type { ModelContext } from "./agent-models.ts";

export class ModelError extends SvcError {
  readonly reason: ModelFailureReason;
  /** A refusal that is none of the request: the model may answer the same call some minutes later. */
  readonly mayPass: boolean;
  readonly isOfContent: boolean;

  constructor(reason: ModelFailureReason, message: string, options: ModelErrorOptions) {
    super(UNREACHABLE.has(reason) ? "MODEL_UNREACHABLE" : "MODEL_REFUSED", message, options);
    this.reason = reason;
    this.mayPass = options.mayPass;
    this.isOfContent = options.isOfContent ?? false;
  }
}

type ModelErrorOptions = NonNullable<ConstructorParameters<typeof SvcError>[2]> & {
  readonly mayPass: boolean;
  /** The provider refuses what it was sent, and would refuse it again. */
  readonly isOfContent?: boolean;
};

/** Reasons that are told as MODEL_UNREACHABLE; the others are MODEL_REFUSED. */
const UNREACHABLE: ReadonlySet<ModelFailureReason> = new Set([
  "unreadable",
  "host-unknown",
  "connection-refused",
  "tls-failed",
  "timed-out",
  "connection-failed",
]);

/** Whether trying the same call again can help. */
export function isRetryable(error: unknown): boolean {
  if (error instanceof ModelError) return error.mayPass;
  if (error instanceof SvcError) return error.code === "MODEL_UNREACHABLE";
  // Cut off or garbled in a way that another answer need not be; the library leaves its retrying open.
  if (error instanceof Error && error.name === "AI_InvalidResponseDataError") return true;
  const isRetryable = fieldsOf(error).isRetryable;
  if (typeof isRetryable === "boolean") return isRetryable;
  const status = statusOf(error);
  return status !== undefined && (status === 408 || status === 409 || status === 429 || status >= 500);
}

/** Whether the model, busy or in trouble now, may answer the same call some minutes later. */
export const mayPass = (error: SvcError): boolean =>
  error.code === "MODEL_UNREACHABLE" || (error instanceof ModelError && error.mayPass);

/** Whether the provider refuses what it was sent, and would refuse it in every request to come. */
export const isRefusedContent = (error: SvcError): boolean => error instanceof ModelError && error.isOfContent;

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

export interface ModelErrorFacts {
  /** How long the provider asks to be left alone. */
  readonly askedMs?: number | undefined;
  readonly about?: ModelContext | undefined;
  /** Models that the provider offers, where it does not know the configured one. */
  readonly offered?: readonly string[] | undefined;
}

/** An error of ours stays what it is. */
export function modelError(error: unknown, facts: ModelErrorFacts = {}): SvcError {
  if (error instanceof SvcError) return error;
  const { askedMs, about } = facts;
  const status = statusOf(error);
  const words = knownWords(error);
  const said = about && quotedWithoutSecrets(providerText(error), about);
  // What broke off in the middle had been taken at first.
  const passes = isRetryable(error) || (status === undefined && !(error instanceof Error));
  const reason = reasonOf(error, status, words);
  const message = MESSAGES[reason](markOf(error, status, words), about?.config.name);
  return new ModelError(reason, message, {
    hint: fixFor(reason, facts),
    mayPass: passes,
    isOfContent: !passes && CONTENT_STATUSES.has(status),
    ...(askedMs !== undefined && { retryAfterMs: askedMs }),
    ...(said !== undefined && { said }),
  });
}

/** An answer without text and calls, of which the provider says why. */
export function emptyAnswerError(finish: string | undefined): SvcError | undefined {
  if (finish === "content-filter") {
    return new ModelError("content-refused", MESSAGES["content-refused"]("", undefined), {
      hint: fixFor("content-refused", {}),
      mayPass: false,
    });
  }
  if (finish !== "length") return undefined;
  return new ModelError("answer-too-long", MESSAGES["answer-too-long"]("", undefined), {
    hint: fixFor("answer-too-long", {}),
    mayPass: false,
  });
}

/** `mark`: the status, words of the provider that are in our list, the network's code; in brackets, with a blank before. */
const MESSAGES: Readonly<Record<ModelFailureReason, (mark: string, model: string | undefined) => string>> = {
  "key-refused": (mark) => `The model provider refused the API key${mark}.`,
  "not-allowed": (mark) => `The model provider does not allow this request${mark}.`,
  "no-credit": (mark) => `The account at the model provider has no credit left${mark}.`,
  "model-unknown": (mark, model) =>
    `The model provider does not know ${model === undefined ? "the model" : `the model "${model}"`} at this address${mark}.`,
  "rate-limited": (mark) => `The model provider's rate limit is reached${mark}.`,
  overloaded: (mark) => `The model provider is overloaded${mark}.`,
  "provider-failed": (mark) => `The model provider failed${mark}.`,
  "context-full": (mark) => `The conversation is too long for the model${mark}.`,
  "content-refused": (mark) => `The model provider declined to answer because of the content${mark}.`,
  "request-refused": (mark) => `The model provider refused the request${mark}.`,
  redirected: (mark) => `The model provider's address redirects elsewhere${mark}.`,
  "broke-off": (mark) => `The model provider broke off its answer with an error${mark}.`,
  unreadable: (mark) => `The model provider's answer can't be understood${mark}.`,
  "host-unknown": (mark) => `The model provider's host name can't be resolved${mark}.`,
  "connection-refused": (mark) => `Nothing listens at the model provider's address${mark}.`,
  "tls-failed": (mark) => `The TLS connection to the model provider failed${mark}.`,
  "timed-out": (mark) => `The model provider did not answer in time${mark}.`,
  "connection-failed": (mark) => `The connection to the model provider failed${mark}.`,
  "answer-too-long": (mark) => `The model used all its output tokens before it answered${mark}.`,
};

function fixFor(reason: ModelFailureReason, { askedMs, about, offered = [] }: ModelErrorFacts): string {
  const key = (name: string): string => {
    const shared = `model.${name}`;
    return about === undefined || about.agent === DEFAULT_AGENT
      ? shared
      : `agents.${about.agent}.model.${name} (or ${shared}, if the agent has none of its own)`;
  };
  const later = askedMs === undefined ? "Try again in a few minutes." : `Try again in ${waitText(askedMs)}.`;
  switch (reason) {
    case "key-refused":
      return `Set a valid key: svc secrets set ${key("api_key")}.`;
    case "not-allowed":
      return `Check at the provider that the key may use this model, or set another one: svc secrets set ${key("api_key")}.`;
    case "no-credit":
      return "Add credit at the provider, then try again.";
    case "model-unknown":
      return offered.length > 0
        ? `Set ${key("name")} to a model that it offers: ${offered.join(", ")}.`
        : `Check ${key("name")} and ${key("base_url")}. A server that speaks only Chat Completions needs ` +
            'provider = "openai-compatible".';
    case "rate-limited":
      return `${later} If it happens often, raise the limit at the provider.`;
    case "overloaded":
    case "provider-failed":
      return `${later} Nothing is wrong with your settings.`;
    case "context-full":
      return "Start a new conversation, or lower agent.history_max_tokens.";
    case "content-refused":
      return "Rephrase the message, or choose another model.";
    case "request-refused":
      return `Check ${key("name")}, ${key("provider")} and ${key("max_output_tokens")}: svc model test.`;
    case "redirected":
      return `Set ${key("base_url")} to the address that it leads to.`;
    case "broke-off":
      return "Try again.";
    case "unreadable":
      return `Check that ${key("provider")} is what ${key("base_url")} speaks.`;
    case "host-unknown":
      return `Check the host name in ${key("base_url")}, the network and its DNS.`;
    case "connection-refused":
      return `Start the model server, or correct ${key("base_url")}.`;
    case "tls-failed":
      return (
        `Check that ${key("base_url")} is the right address and this machine's clock is right. For a certificate of your own, ` +
        "name its authority in NODE_EXTRA_CA_CERTS."
      );
    case "timed-out":
    case "connection-failed":
      return `Check ${key("base_url")} and the network, then try again.`;
    case "answer-too-long":
      return `Raise ${key("max_output_tokens")}.`;
  }
}

function reasonOf(error: unknown, status: number | undefined, words: readonly string[]): ModelFailureReason {
  const worded = words.map((word) => WORDS[word]).find((reason) => reason !== undefined);
  if (status !== undefined && status >= 300) {
    if (status < 400) return "redirected";
    // Some say only in prose that the conversation is too long.
    if (worded === undefined && (status === 400 || status === 422) && TOO_LONG.test(providerText(error) ?? ""))
      return "context-full";
    return worded ?? STATUSES[status] ?? (status >= 500 ? "provider-failed" : "request-refused");
  }
  if (!(error instanceof Error)) return worded ?? "broke-off";
  const network = networkCodeOf(error);
  if (network !== undefined) return networkReason(network);
  return status === undefined && isRetryable(error) ? "connection-failed" : "unreadable";
}

const STATUSES: Readonly<Record<number, ModelFailureReason>> = {
  401: "key-refused",
  402: "no-credit",
  403: "not-allowed",
  404: "model-unknown",
  408: "timed-out",
  413: "context-full",
  429: "rate-limited",
  503: "overloaded",
  504: "provider-failed",
  529: "overloaded",
};

const TOO_LONG =
  /\bcontext (?:length|window|size)\b|\bmaximum context\b|\bprompt is too long\b|\btoo many (?:input )?tokens\b|\bexceeds? the (?:available )?context\b/i;

function networkReason(code: string): ModelFailureReason {
  if (code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "EAI_FAIL" || code === "EAI_NODATA")
    return "host-unknown";
  if (code === "ECONNREFUSED") return "connection-refused";
  if (/^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|EPROTO$)/.test(code))
    return "tls-failed";
  if (code === "ETIMEDOUT" || /^UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT$/.test(code)) return "timed-out";
  return "connection-failed";
}

/** What is shown in brackets: it names the failure for a search. */
function markOf(error: unknown, status: number | undefined, words: readonly string[]): string {
  const shown: (string | number)[] = [];
  if (status !== undefined && status >= 300) shown.push(status);
  shown.push(...words);
  if (shown.length === 0 && error instanceof Error) {
    const network = networkCodeOf(error);
    if (network !== undefined) shown.push(network);
    else if (/^\w{1,64}$/.test(error.name) && !isRetryable(error)) shown.push(error.name);
  }
  return shown.length === 0 ? "" : ` (${shown.join(", ")})`;
}

/** What we can say of the provider's reasons: words that it and we know. */
function knownWords(error: unknown): string[] {
  const text = rawBody(error);
  if (text === undefined) return [];
  const said = new Set(Array.from(text.matchAll(/"(?:type|code|param)"\s*:\s*"([a-z_]{1,40})/g), (match) => match[1]!));
  return [...said].filter((word) => Object.hasOwn(WORDS, word));
}

/** Error types, codes and parameters of the providers' error bodies that may be shown, with the reason where that is sure. */
const WORDS: Readonly<Record<string, ModelFailureReason | undefined>> = {
  invalid_api_key: "key-refused",
  authentication_error: "key-refused",
  permission_error: "not-allowed",
  model_not_found: "model-unknown",
  not_found_error: "model-unknown",
  context_length_exceeded: "context-full",
  request_too_large: "context-full",
  insufficient_quota: "no-credit",
  billing_error: "no-credit",
  rate_limit_exceeded: "rate-limited",
  rate_limit_error: "rate-limited",
  overloaded_error: "overloaded",
  server_error: undefined,
  unsupported_parameter: undefined,
  unsupported_value: undefined,
  invalid_function_parameters: undefined,
  content_policy_violation: "content-refused",
  content_filter: "content-refused",
  max_tokens: undefined,
  max_output_tokens: undefined,
  max_completion_tokens: undefined,
  tools: undefined,
  messages: undefined,
  input: undefined,
};
