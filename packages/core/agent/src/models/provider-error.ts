/** What is read of a provider's failure: of the AI SDK's errors, of its stream errors, and of an error frame sent as it came. */

/** The parts that we read of the AI SDK's APICallError, of its stream errors, and of an error frame sent as it came. */
interface ProviderError {
  readonly statusCode?: unknown;
  readonly isRetryable?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: unknown;
  readonly data?: unknown;
  readonly code?: unknown;
}

export const fieldsOf = (error: unknown): ProviderError => (typeof error === "object" && error !== null ? error : {});

/** The HTTP status; in an error frame amid a stream some servers put it where others have a word. */
export function statusOf(error: unknown): number | undefined {
  const { statusCode, code } = fieldsOf(error);
  const status = typeof statusCode === "number" ? statusCode : error instanceof Error ? Number.NaN : Number(code);
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : undefined;
}

/** The runtime's own code of a broken connection, e.g. ECONNREFUSED, from anywhere in the chain of causes. */
export function networkCodeOf(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; current instanceof Error && depth < 8; depth += 1) {
    const { code } = current as { code?: unknown };
    if (typeof code === "string" && /^[A-Z][A-Z0-9_]{1,63}$/.test(code)) return code;
    current = current.cause;
  }
  return undefined;
}

/** Beyond this nothing of a body is read: no provider explains itself at such length. */
const MAX_BODY_CHARS = 100_000;

/** The body as text. Undefined: there is none, or it is too long to explain anything. */
export function rawBody(error: unknown): string | undefined {
  const { responseBody, data } = fieldsOf(error);
  // An Error itself is never searched: the library's own hold the request, conversation and all.
  const frame = data ?? (error instanceof Error ? undefined : error);
  const text = typeof responseBody === "string" ? responseBody : JSON.stringify(frame ?? null);
  return text === undefined || text.length > MAX_BODY_CHARS ? undefined : text;
}

/** The provider's own sentence, as it came: `error.message`, `error`, `message`, `detail`, or a short plain text. */
export function providerText(error: unknown): string | undefined {
  const raw = rawBody(error);
  if (raw === undefined) return undefined;
  let body: unknown;
  try {
    body = JSON.parse(raw);
  } catch {
    // A web page explains nothing.
    return /^\s*</.test(raw) || raw.length > 2_000 ? undefined : raw;
  }
  return sentenceIn(body, 4);
}

function sentenceIn(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || depth === 0) return undefined;
  if (Array.isArray(value)) return sentenceIn(value[0], depth - 1);
  const { error, message, detail, response } = value as { [key: string]: unknown };
  for (const part of [error, message, detail, response]) {
    const found = sentenceIn(part, depth - 1);
    if (found !== undefined && found.trim() !== "") return found;
  }
  return undefined;
}
