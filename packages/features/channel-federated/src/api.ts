/**
 * The client-server API of the homeserver, one request at a time, through the service's guarded client.
 * https://spec.matrix.org/v1.16/client-server-api/
 */
import { type FeatureContext, type FetchOptions, type Json, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, parseJson, retryAfterMs } from "@svc/kit";

export interface MatrixRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below `/_matrix/`, each part encoded: `client/v3/sync`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly json?: Json;
  /** A JSON text that was written elsewhere, sent as it is. */
  readonly jsonText?: string;
  /** Sent as it is with this content type. */
  readonly upload?: { readonly bytes: Uint8Array; readonly mimeType: string };
  /** Default: 4 MiB. */
  readonly maxBytes?: number;
  /** Default: 30 s. */
  readonly timeoutMs?: number;
  /** Sent without the access token: a login. */
  readonly anonymous?: true;
}

export interface MatrixApi {
  /**
   * The answer's JSON object; an empty one where it holds none. Throws MatrixRefusal for what the homeserver refuses, REMOTE_*,
   * ADDRESS_REFUSED. No word of the homeserver is in an error.
   */
  call(request: MatrixRequest, signal: AbortSignal): Promise<Fields>;
  /** URL and headers of a download, for a client that reads it piece by piece. */
  download(path: string): Promise<{ readonly url: string; readonly headers: Record<string, string> }>;
}

export interface ApiDeps {
  readonly homeserver: string;
  /** Throws where it is missing yet. */
  readonly token: () => Promise<string>;
  readonly context: Pick<FeatureContext, "fetch" | "clock">;
}

/**
 * What the homeserver refused. CHANNEL_UNAUTHORIZED (the token), DELIVERY_REFUSED (it would refuse it again), DELIVERY_FAILED (it
 * may take it later).
 */
export class MatrixRefusal extends SvcError {
  readonly httpStatus: number;
  /** `M_FORBIDDEN`; undefined: the answer is not the homeserver's. */
  readonly errcode: string | undefined;
  /** The session of a user-interactive authentication that it asks for. */
  readonly session: string | undefined;

  constructor(error: SvcError, httpStatus: number, errcode: string | undefined, session: string | undefined) {
    super(error.code, error.message, {
      ...(error.hint !== undefined && { hint: error.hint }),
      ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
    });
    this.httpStatus = httpStatus;
    this.errcode = errcode;
    this.session = session;
  }
}

/** Whether it is a refusal with one of these codes. */
export const isRefusal = (error: unknown, ...errcodes: readonly string[]): error is MatrixRefusal =>
  error instanceof MatrixRefusal && error.errcode !== undefined && errcodes.includes(error.errcode);

/** The homeserver itself refuses it, not a proxy before it, and would refuse it again: what depends on it goes on without. */
export const isDefinite = (error: unknown): error is MatrixRefusal =>
  error instanceof MatrixRefusal && error.code === "DELIVERY_REFUSED" && error.errcode !== undefined;

const LIMIT_MS = 30_000;
const MAX_ANSWER_BYTES = 4_194_304;

export function createApi({ homeserver, token, context: { fetch, clock } }: ApiDeps): MatrixApi {
  const urlOf = (path: string, query: MatrixRequest["query"] = {}): string => {
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const search = given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
    return `${homeserver}/_matrix/${path}${search}`;
  };
  return {
    async call(request, signal) {
      signal.throwIfAborted();
      const authorization = request.anonymous ? {} : { authorization: `Bearer ${await token()}` };
      const answer = await fetch(urlOf(request.path, request.query), {
        method: request.method,
        ...contentOf(request, authorization),
        maxBytes: request.maxBytes ?? MAX_ANSWER_BYTES,
        timeoutMs: request.timeoutMs ?? LIMIT_MS,
        redirects: "none",
        signal,
      });
      const fields = answer.truncated ? {} : fieldsOf(parseJson(answer.bytes));
      if (answer.status >= 200 && answer.status <= 299) {
        if (answer.truncated) throw new SvcError("REMOTE_UNREACHABLE", "The homeserver's answer is too large.");
        return fields;
      }
      throw refusalOf(answer.status, fields, retryAfterMs(answer.headers["retry-after"], clock.now()));
    },
    download: async (path) => ({ url: urlOf(path), headers: { authorization: `Bearer ${await token()}` } }),
  };
}

function contentOf({ json, jsonText, upload }: MatrixRequest, headers: Record<string, string>): FetchOptions {
  if (upload) return { headers: { ...headers, "content-type": upload.mimeType }, body: upload.bytes };
  const body = jsonText ?? (json === undefined ? undefined : JSON.stringify(json));
  if (body === undefined) return { headers };
  return { headers: { ...headers, "content-type": "application/json" }, body };
}

/** https://spec.matrix.org/v1.16/client-server-api/#standard-error-response */
function refusalOf(status: number, fields: Fields, headerMs: number | undefined): MatrixRefusal {
  const given = fields["errcode"];
  const errcode = typeof given === "string" && /^[A-Z][A-Z_.]{1,60}$/.test(given) ? given : undefined;
  const session = typeof fields["session"] === "string" ? fields["session"] : undefined;
  const bodyMs = fields["retry_after_ms"];
  const waitMs = headerMs ?? (typeof bodyMs === "number" && bodyMs >= 0 ? Math.ceil(bodyMs) : undefined);
  return new MatrixRefusal(errorOf(status, errcode, waitMs), status, errcode, session);
}

function errorOf(status: number, errcode: string | undefined, waitMs: number | undefined): SvcError {
  const wait = waitMs === undefined ? {} : { retryAfterMs: waitMs };
  if (status === 429) return new SvcError("DELIVERY_FAILED", "The homeserver's rate limit is reached.", wait);
  if (status >= 500 || status === 408 || status === 425) {
    return new SvcError("DELIVERY_FAILED", `The homeserver answered with status ${status}.`, wait);
  }
  if (status >= 300 && status <= 399) {
    return new SvcError("REMOTE_UNREACHABLE", "The homeserver redirects to another address.", {
      hint: "Set `homeserver` to the base URL of its client API, as /.well-known/matrix/client names it.",
    });
  }
  if (errcode === "M_USER_DEACTIVATED" || errcode === "M_USER_LOCKED" || errcode === "M_USER_SUSPENDED") {
    return new SvcError("CHANNEL_UNAUTHORIZED", "The account is deactivated, locked or suspended.", {
      hint: "Ask the administrator of the homeserver.",
    });
  }
  if (status === 401 || (status === 403 && errcode === undefined)) {
    return new SvcError("CHANNEL_UNAUTHORIZED", "The homeserver refuses the access token.", {
      hint: "Log in again: svc channels setup federated, or svc secrets set channels_config.federated.access_token",
    });
  }
  const known = errcode === undefined ? undefined : REFUSALS[errcode];
  return new SvcError("DELIVERY_REFUSED", known?.[0] ?? `The homeserver answered with status ${status}.`, {
    ...(known?.[1] !== undefined && { hint: known[1] }),
  });
}

const REFUSALS: Readonly<Record<string, readonly [sentence: string, hint?: string]>> = {
  M_FORBIDDEN: ["The homeserver does not allow this account to do that there.", "Invite the account to the room."],
  M_NOT_FOUND: ["The homeserver does not know this room, message or file."],
  M_TOO_LARGE: ["The message or file is larger than the homeserver takes."],
  M_GUEST_ACCESS_FORBIDDEN: ["The room lets no guests in."],
  M_UNSUPPORTED_ROOM_VERSION: ["The homeserver does not support the version of this room."],
  M_UNRECOGNIZED: ["The homeserver does not know this request.", "Check `homeserver`; it may be too old."],
};
