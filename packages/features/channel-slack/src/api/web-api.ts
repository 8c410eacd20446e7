/**
 * Methods of the Web API. Each is asked once: whether it is tried again is the delivery's business, and in the error's code.
 * https://docs.slack.dev/apis/web-api
 */
import type { FeatureContext, Json } from "@svc/contract";
import { type Fields, fieldsOf } from "../fields.ts";
import { clientFetch } from "./client-fetch.ts";
import { problemOf } from "./problems.ts";
import { quietLog } from "./quiet-log.ts";

export interface WebApi {
  /**
   * Throws what the platform's no means to us, see `problemOf`. `answers`: errors of the platform's that are none here; `error`
   * of what it resolves with is the one.
   */
  call(
    method: string,
    args: Readonly<Record<string, Json | undefined>>,
    signal: AbortSignal,
    answers?: readonly string[],
  ): Promise<Fields>;
}

export interface Account {
  readonly apiUrl: string;
  readonly token: string;
}

export function webApi({ apiUrl, token }: Account, { fetch }: Pick<FeatureContext, "fetch">): WebApi {
  return {
    async call(method, args, signal, answers = []) {
      signal.throwIfAborted();
      // Forty milliseconds to load, which nobody pays at start.
      const { WebClient } = await import("./library.ts");
      const client = new WebClient(undefined, {
        slackApiUrl: apiUrl,
        headers: requestHeaders(token),
        fetch: clientFetch(fetch, signal),
        logger: quietLog(),
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        allowAbsoluteUrls: false,
      });
      try {
        return fieldsOf((await client.apiCall(method, wellFormed(args))) as unknown as Json);
      } catch (error) {
        signal.throwIfAborted();
        const answer = fieldsOf(fieldsOf(error as Json)["data"]);
        if (answers.some((word) => answer["error"] === word)) return answer;
        throw problemOf(error);
      }
    },
  };
}

/** The library would tell which system it runs on. */
export const requestHeaders = (token: string): Record<string, string> => ({
  Authorization: `Bearer ${token}`,
  "User-Agent": "svc",
});

/** Half a character can't be put into a form. */
const wellFormed = (args: Readonly<Record<string, Json | undefined>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, typeof value === "string" ? value.toWellFormed() : value]),
  );
