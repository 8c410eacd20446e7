/** What the service refused, or why it could not be asked. */
export class ApiError extends Error {
  /** Stable; `UNREACHABLE` when there was no answer, `NOT_JSON` when it was none of ours. */
  readonly code: string;
  /** 0: there was no answer. */
  readonly status: number;
  readonly retryAfterSecs: number | undefined;
  /** What else the answer says. */
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, status = 0, fields: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = status;
    this.fields = fields;
    const after = fields["retry_after"];
    this.retryAfterSecs = typeof after === "number" ? after : undefined;
  }
}

/** Of an answer that is not a good one. */
export async function errorOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => undefined)) as Readonly<Record<string, unknown>> | undefined;
  const { code, error } = body ?? {};
  if (typeof code !== "string" || typeof error !== "string") {
    return new ApiError(
      "NOT_JSON",
      `The service answered ${response.status} in a way that is not its own.`,
      response.status,
    );
  }
  return new ApiError(code, error, response.status, body);
}

export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError("UNREACHABLE", "The service does not answer.");
