/** One request to the platform's API. */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { type PlatformAnswer, type PlatformCall, platformCall } from "@svc/kit";
import * as v from "valibot";
import type { Config } from "./index.ts";

/** Throws as `platformCall` does. `path` comes behind `/api/ext/v3`. */
export type Api = (
  path: string,
  request: Pick<PlatformCall, "method" | "json" | "body" | "headers" | "answers" | "timeoutMs" | "signal">,
) => Promise<PlatformAnswer>;

export const authorization = ({ api_token: token }: Pick<Config, "api_token">): Record<string, string> => ({
  // Its page shows the token with the word in front; people copy both.
  authorization: `Bearer ${token.replace(/^Bearer\s+/i, "")}`,
});

export function apiOf({ config, fetch, clock }: FeatureContext<Config>): Api {
  return async (path, { headers = {}, ...request }) => {
    const answer = await platformCall(fetch, {
      url: `${config.api_url}/api/ext/v3${path}`,
      ...request,
      headers: { ...headers, ...authorization(config) },
      nowMs: clock.now(),
    });
    // Some refusals come with status 200: a conversation that is closed, an account without credit.
    if (v.is(REFUSED, answer.json)) throw new SvcError("DELIVERY_REFUSED", "The platform says that it did not do it.");
    return answer;
  };
}

export const json = (value: Json): { readonly method: "POST"; readonly json: Json } => ({
  method: "POST",
  json: value,
});

const REFUSED = v.union([
  v.object({ result: v.literal(false) }),
  v.object({ ok: v.literal(false) }),
  v.object({ success: v.literal(false) }),
]);
