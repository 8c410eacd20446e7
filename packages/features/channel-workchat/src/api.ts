/**
 * Requests to the platform's API with the app's tenant access token. None is tried again here but one whose token was refused: that
 * request was not done. https://open.larksuite.com/document/server-docs/api-call-guide/calling-process/overview
 */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type Fields, fieldsOf, type Form, platformCall, retryAfterMs, textOf, unlessAborted } from "@svc/kit";
import type { Config } from "./config.ts";

export interface ApiRequest {
  /** Default: POST with something to send, else GET. */
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `/open-apis/`; ids in it are checked or encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: Json;
  readonly form?: Form;
}

export interface Api {
  /** `data` of the answer. Throws CHANNEL_UNAUTHORIZED, DELIVERY_*, REMOTE_*. */
  call(request: ApiRequest, signal: AbortSignal): Promise<Fields>;
  /** The whole answer, for the few that have no `data`. Throws as `call`. */
  whole(request: ApiRequest, signal: AbortSignal): Promise<Fields>;
  /** A token that is good for two minutes at least. Throws as `call`. */
  token(signal: AbortSignal): Promise<string>;
  /** Forgets a token that was refused. */
  forget(token: string): void;
}

type ApiDeps = Pick<FeatureContext, "clock" | "fetch">;

/** A token that ends on the way is refused. */
const EARLY_MS = 120_000;
const UPLOAD_MS = 120_000;

export function apiOf(config: Pick<Config, "api_url" | "app_id" | "app_secret">, { clock, fetch }: ApiDeps): Api {
  let known: { readonly token: string; readonly endsAtMs: number } | undefined;
  let asking: Promise<string> | undefined;

  /** https://open.larksuite.com/document/server-docs/authentication-management/access-token/tenant_access_token_internal */
  const exchange = async (): Promise<string> => {
    const json = { app_id: config.app_id, app_secret: config.app_secret };
    const { signal } = new AbortController();
    const answer = await ask({ path: "auth/v3/tenant_access_token/internal", json }, { signal });
    const { tenant_access_token: value, expire } = answer;
    const token = textOf(value);
    if (token === undefined || /[^\x21-\x7e]/.test(token)) throw unreadable();
    const seconds = typeof expire === "number" && expire > 0 ? Math.min(expire, 86_400) : 0;
    known = { token, endsAtMs: clock.monotonic() + seconds * 1000 };
    return token;
  };

  async function ask(
    { method, path, query, json, form }: ApiRequest,
    { token, signal }: { readonly token?: string; readonly signal: AbortSignal },
  ): Promise<Fields> {
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    const answer = await platformCall(fetch, {
      ...(method !== undefined && { method }),
      url: `${config.api_url}/open-apis/${path}${search}`,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(form !== undefined && { "content-type": form.contentType }),
      },
      ...(json !== undefined && { json }),
      ...(form !== undefined && { body: form.body, timeoutMs: UPLOAD_MS }),
      answers: ERROR_STATUSES,
      nowMs: clock.now(),
      signal,
    });
    const fields = fieldsOf(answer.json);
    if (answer.status < 300 && fields["code"] === 0) return fields;
    throw problemOf(answer.status, fields, waitOf(answer.headers, clock.now()));
  }

  const api: Api = {
    async token(signal) {
      signal.throwIfAborted();
      if (known !== undefined && clock.monotonic() < known.endsAtMs - EARLY_MS) return known.token;
      // One request for all who ask meanwhile, to its end although one of them is called off.
      asking ??= exchange().finally(() => (asking = undefined));
      return unlessAborted(asking, signal);
    },
    forget(token) {
      if (known?.token === token) known = undefined;
    },
    async whole(request, signal) {
      const token = await api.token(signal);
      try {
        return await ask(request, { token, signal });
      } catch (error) {
        if (!isRefusedToken(error)) throw error;
        api.forget(token);
        return ask(request, { token: await api.token(signal), signal });
      }
    },
    call: async (request, signal) => fieldsOf((await api.whole(request, signal))["data"]),
  };
  return api;
}

/** All of them are answers here: what they mean is for the body to say. */
const ERROR_STATUSES: readonly number[] = Object.freeze(Array.from({ length: 200 }, (_, index) => 400 + index));

/** `Retry-After`, or the platform's own: whole seconds until the limit opens again. */
const waitOf = (headers: Readonly<Record<string, string>>, nowMs: number): number | undefined =>
  retryAfterMs(headers["retry-after"] ?? headers["x-ogw-ratelimit-reset"], nowMs);

const TOKEN_REFUSED = "The platform refuses the access token.";
const isRefusedToken = (error: unknown): boolean => error instanceof SvcError && error.message === TOKEN_REFUSED;

/**
 * What an answer other than code 0 means. No word of the platform's own: it may quote the message.
 * https://open.larksuite.com/document/server-docs/api-call-guide/generic-error-code,
 * https://open.larksuite.com/document/server-docs/im-v1/message/create#error-code
 */
export function problemOf(status: number, { code }: Fields, waitMs?: number): SvcError {
  const number = typeof code === "number" && Number.isSafeInteger(code) ? code : undefined;
  const cause = number === undefined ? `status ${status}` : `code ${number}`;
  const wait = waitMs === undefined ? {} : { retryAfterMs: waitMs };
  if (number !== undefined && BAD_TOKEN.has(number)) return new SvcError("CHANNEL_UNAUTHORIZED", TOKEN_REFUSED);
  if (status === 401 && number === undefined) return new SvcError("CHANNEL_UNAUTHORIZED", TOKEN_REFUSED);
  const known = number === undefined ? undefined : KNOWN.get(number);
  if (known !== undefined) {
    const [error, sentence, hint] = known;
    const isLater = error === "DELIVERY_FAILED";
    return new SvcError(error, `${sentence} (code ${number}).`, {
      ...(hint !== undefined && { hint }),
      ...(isLater && { retryAfterMs: waitMs ?? 1_000 }),
    });
  }
  const what = `The platform answered with ${cause}.`;
  if (status === 401 || status === 403) {
    return new SvcError("CHANNEL_UNAUTHORIZED", what, {
      hint: "Check the app's permissions in the developer console.",
    });
  }
  const isFinal = status >= 400 && status <= 499 && ![408, 425, 429].includes(status);
  return isFinal ? new SvcError("DELIVERY_REFUSED", what) : new SvcError("DELIVERY_FAILED", what, wait);
}

/** The access token is missing, malformed, expired or of another app. */
const BAD_TOKEN: ReadonlySet<number> = new Set([99991661, 99991663, 99991664, 99991668, 99991671, 99991677]);

type Known = readonly [
  code: "CHANNEL_UNAUTHORIZED" | "DELIVERY_REFUSED" | "DELIVERY_FAILED",
  sentence: string,
  hint?: string,
];

const SECRET_HINT = "Copy App ID and App Secret from the app's page, Credentials & Basic Info.";
const KNOWN: ReadonlyMap<number, Known> = new Map([
  [10003, ["CHANNEL_UNAUTHORIZED", "The platform does not know this App ID", SECRET_HINT]],
  [10012, ["CHANNEL_UNAUTHORIZED", "The platform does not know this App ID", SECRET_HINT]],
  [10014, ["CHANNEL_UNAUTHORIZED", "The App Secret is wrong", SECRET_HINT]],
  [99991543, ["CHANNEL_UNAUTHORIZED", "The App ID or the App Secret is wrong", SECRET_HINT]],
  [99991662, ["CHANNEL_UNAUTHORIZED", "The app is not enabled in this tenant", "Publish a version of the app."]],
  [
    99991672,
    [
      "CHANNEL_UNAUTHORIZED",
      "The app lacks a permission",
      "Add the permissions that the guide lists, and publish a version of the app.",
    ],
  ],
  [99991400, ["DELIVERY_FAILED", "The platform asks to be asked less often"]],
  [230020, ["DELIVERY_FAILED", "The platform takes no more messages of this chat for a moment"]],
  [230049, ["DELIVERY_FAILED", "The platform is still sending this message"]],
  [1, ["DELIVERY_FAILED", "The platform is busy"]],
  [1000040343, ["DELIVERY_FAILED", "The platform is busy"]],
  [1000040350, ["DELIVERY_FAILED", "The app has as many long connections as it may have"]],
  [230002, ["DELIVERY_REFUSED", "The bot is not in this chat", "Add the bot to the group."]],
  [230006, ["CHANNEL_UNAUTHORIZED", "The app has no bot", "Add the feature Bot to the app, and publish a version."]],
  [230013, ["DELIVERY_REFUSED", "This person is outside of the app's availability"]],
  [230018, ["DELIVERY_REFUSED", "The group lets the bot not speak"]],
  [230011, ["DELIVERY_REFUSED", "The message was recalled"]],
  [230110, ["DELIVERY_REFUSED", "The message was deleted"]],
  [230025, ["DELIVERY_REFUSED", "The message is too long"]],
  [230027, ["CHANNEL_UNAUTHORIZED", "The app lacks a permission for messages"]],
  [230031, ["DELIVERY_REFUSED", "The message is too old to be changed"]],
  [230099, ["DELIVERY_REFUSED", "The platform can't make a card of this message"]],
]);

/** For an answer that lacks required fields. */
export const unreadable = (): SvcError =>
  new SvcError("DELIVERY_FAILED", "The platform's answer can't be read.", { hint: "Check the channel's api_url." });
