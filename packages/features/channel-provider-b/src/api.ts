/** One request to the partner API, with what its answers mean to a message. */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type PlatformAnswer, platformCall } from "@svc/kit";
import * as v from "valibot";
import type { Config } from "./index.ts";

export interface ApiRequest {
  readonly method?: "GET" | "POST";
  readonly json?: Json;
  /** Statuses that the caller deals with itself. */
  readonly answers?: readonly number[];
  readonly signal: AbortSignal;
}

/** Throws as `platformCall` does. `path` begins with a slash. */
export type Api = (path: string, request: ApiRequest) => Promise<PlatformAnswer>;

export function apiOf({ config, fetch, clock }: FeatureContext<Config>): Api {
  return async (path, { method = "POST", json, answers = [], signal }) => {
    const answer = await platformCall(fetch, {
      url: `${config.api_url}${path}`,
      method,
      headers: { authorization: `Bearer ${config.api_token}` },
      ...(json !== undefined && { json }),
      answers: [403, 404, 409],
      signal,
      nowMs: clock.now(),
    });
    if (answer.status < 400 || answers.includes(answer.status)) return answer;
    throw refusalOf(answer);
  };
}

/** https://docs.linqapp.com/error/ – undefined where the answer is not in that form. */
export function errorCodeOf({ json }: PlatformAnswer): number | undefined {
  const { success, output } = v.safeParse(ERROR, json);
  return success ? output.error.code : undefined;
}

const ERROR = v.object({ error: v.object({ code: v.number() }) });

/** 403 is said of messages more often than of credentials, and some 404 and 409 pass. */
export function refusalOf(answer: PlatformAnswer): SvcError {
  const known = KNOWN[errorCodeOf(answer) ?? 0];
  if (known !== undefined) return new SvcError(...known);
  const code = answer.status === 403 ? "CHANNEL_UNAUTHORIZED" : "DELIVERY_REFUSED";
  return new SvcError(code, `The platform answered with status ${answer.status}.`);
}

const KNOWN: Readonly<Record<number, ConstructorParameters<typeof SvcError>>> = {
  2002: ["DELIVERY_REFUSED", "The platform has deleted this message after it was sent."],
  2005: ["DELIVERY_REFUSED", "The chat belongs to another account of the platform."],
  2006: [
    "CHANNEL_UNAUTHORIZED",
    "The account has no right to the line.",
    { hint: "Check channels_config.provider_b.from_phone." },
  ],
  2007: ["DELIVERY_FAILED", "The platform has not finished with the file."],
  2008: ["DELIVERY_REFUSED", "In the platform's sandbox only who has written first can be written to."],
  2009: ["DELIVERY_FAILED", "The platform has not finished with the chat."],
  2011: ["DELIVERY_REFUSED", "The platform has not enabled this for the account."],
  2013: ["DELIVERY_REFUSED", "The line has left the chat."],
  2024: ["DELIVERY_REFUSED", "The recipient has asked the platform not to be written to."],
};
