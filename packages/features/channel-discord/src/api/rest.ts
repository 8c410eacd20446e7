/**
 * Requests to the platform's API, by the guarded client. None is tried again here: what a message asks for twice would be
 * said twice.
 * https://docs.discord.com/developers/reference#http-api
 */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type Form, platformCall } from "@svc/kit";
import type { Config } from "../config.ts";
import { type Problem, problemOf } from "./problems.ts";
import { rateLimits, routeOf } from "./rate-limits.ts";

export interface RestRequest {
  /** Default: POST with something to send, else GET. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the version, without a slash in front; ids in it are ids. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: Json;
  readonly form?: Form;
}

export interface Rest {
  /** The JSON of the answer; undefined: there is none. Throws CHANNEL_UNAUTHORIZED, DELIVERY_*, REMOTE_*. */
  call(request: RestRequest, signal: AbortSignal): Promise<Json | undefined>;
  /** As `call`; what the platform refuses is told, and not thrown. */
  attempt(request: RestRequest, signal: AbortSignal): Promise<{ readonly json: Json | undefined } | Problem>;
}

type Surroundings = Pick<FeatureContext, "clock" | "fetch">;

export function restApi({ api_url: apiUrl, bot_token: token }: Config, { clock, fetch }: Surroundings): Rest {
  const limits = rateLimits(clock);
  const attempt: Rest["attempt"] = async ({ path, query, json, form, ...given }, signal) => {
    const method = given.method ?? (json === undefined && form === undefined ? "GET" : "POST");
    const route = routeOf(method, path);
    await limits.pass(route, signal);
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    const answer = await platformCall(fetch, {
      method,
      url: `${apiUrl}/v${API_VERSION}/${path}${search}`,
      headers: {
        authorization: `Bot ${token}`,
        "user-agent": USER_AGENT,
        ...(form !== undefined && { "content-type": form.contentType }),
      },
      ...(json !== undefined && { json }),
      ...(form !== undefined && { body: form.body, timeoutMs: UPLOAD_MS }),
      answers: ERROR_STATUSES,
      maxBytes: MAX_ANSWER_BYTES,
      nowMs: clock.now(),
      signal,
    });
    limits.learn(route, answer);
    return problemOf(answer, clock.now()) ?? { json: answer.json };
  };
  return {
    attempt,
    async call(request, signal) {
      const outcome = await attempt(request, signal);
      if ("error" in outcome) throw outcome.error;
      return outcome.json;
    },
  };
}

export const API_VERSION = 10;

/** Without one of this form requests are turned away: https://docs.discord.com/developers/reference#user-agent */
const USER_AGENT = "DiscordBot (https://svc.example, 1)";

/** All of them are answers here: what they mean is for the body to say. */
const ERROR_STATUSES: readonly number[] = Array.from({ length: 200 }, (_, index) => 400 + index);

/** A hundred messages with everything that they quote and embed. */
const MAX_ANSWER_BYTES = 16 * 1_048_576;
const UPLOAD_MS = 55_000;

/** Of an answer that has not what it should have. */
export const unreadable = (): SvcError =>
  new SvcError("DELIVERY_FAILED", "The platform's answer can't be read.", { hint: "Check the channel's api_url." });
