/** Requests to the Graph API. Its errors are told by a number in the body: the status alone says too little. */
import type { FeatureContext, Json } from "@svc/contract";
import { type Form, platformCall, type PlatformAnswer } from "@svc/kit";
import type { CloudConfig } from "./config.ts";
import { type Fields, fieldsOf } from "./fields.ts";
import { problemOf } from "./problems.ts";

export interface GraphApi {
  /** Throws what the error of an answer is to us, see `problemOf`. */
  get(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Fields>;
  post(path: string, json: Json, signal: AbortSignal): Promise<Fields>;
  upload(path: string, form: Form, signal: AbortSignal): Promise<Fields>;
  /** As `get`; undefined where there is no such object. */
  find(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Fields | undefined>;
}

type Surroundings = Pick<FeatureContext, "clock" | "fetch">;

/** Paths are below `api_url`, without a slash in front. */
export function graphApi({ apiUrl, accessToken }: CloudConfig, { clock, fetch }: Surroundings): GraphApi {
  const authorization = `Bearer ${accessToken}`;
  const common = (signal: AbortSignal) => ({ answers: ERROR_STATUSES, nowMs: clock.now(), signal });
  const read = (path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<PlatformAnswer> =>
    platformCall(fetch, {
      ...common(signal),
      method: "GET",
      url: `${apiUrl}/${path}?${new URLSearchParams(query)}`,
      headers: { authorization },
    });
  const taken = (answer: PlatformAnswer): Fields => {
    const problem = problemOf(answer, clock.now());
    if (problem !== undefined) throw problem;
    return fieldsOf(answer.json);
  };
  return {
    get: async (path, query, signal) => taken(await read(path, query, signal)),
    find: async (path, query, signal) => {
      const answer = await read(path, query, signal);
      return isMissing(answer) ? undefined : taken(answer);
    },
    post: async (path, json, signal) =>
      taken(
        await platformCall(fetch, { ...common(signal), url: `${apiUrl}/${path}`, headers: { authorization }, json }),
      ),
    upload: async (path, { body, contentType }, signal) =>
      taken(
        await platformCall(fetch, {
          ...common(signal),
          url: `${apiUrl}/${path}`,
          method: "POST",
          headers: { authorization, "content-type": contentType },
          body,
        }),
      ),
  };
}

/** All of them are answers here: which of them is worth another try is for the body to say. */
const ERROR_STATUSES: readonly number[] = Array.from({ length: 200 }, (_, index) => 400 + index);

/** What has expired answers like what never was: 404, or 400 with "object does not exist" (100, 33). */
function isMissing({ status, json }: PlatformAnswer): boolean {
  const { code, error_subcode: subcode } = fieldsOf(fieldsOf(json)["error"]);
  return status === 404 || (code === 100 && subcode === 33);
}
