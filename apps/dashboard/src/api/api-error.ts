import { t } from "../texts/texts.ts";
/** What the service refused, or why it could not be asked. */
export class ApiError extends Error {
  /** Stable; `UNREACHABLE` without an answer, `NOT_JSON` for an answer from another program. */
  readonly code: string;
  /** 0: there was no answer. */
  readonly status: number;
  readonly retryAfterSecs: number | undefined;
  /** The page's sentence, in its language; the service's are English. */
  readonly isOwn: boolean;
  /** What else the answer says. */
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
