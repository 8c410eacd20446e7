/** Requests to the REST API, version 2010-04-01: forms in, JSON out. https://www.twilio.com/docs/usage/api */
import type { FeatureContext } from "@svc/contract";
import { type Fields, fieldsOf, platformCall, type PlatformAnswer } from "@svc/kit";
import type { Config } from "../config.ts";
import { isOver, problemOf } from "./problems.ts";

/** A list stands for a field that comes several times. */
export type FormFields = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface PlatformApi {
  /** Paths are below the account's. Throws what the error of an answer is to us, see `problemOf`. */
  get(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Fields>;
  post(path: string, form: FormFields, signal: AbortSignal): Promise<Fields>;
  /** As the others; undefined where there is no such call, or it is over. */
  getCall(sid: string, signal: AbortSignal): Promise<Fields | undefined>;
  updateCall(sid: string, form: FormFields, signal: AbortSignal): Promise<Fields | undefined>;
  /** For files. */
  readonly root: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function platformApi(
  { api_url: apiUrl, account_sid: account, auth_token: token }: Config,
  { clock, fetch }: Pick<FeatureContext, "clock" | "fetch">,
): PlatformApi {
  const root = `${apiUrl}/2010-04-01/Accounts/${account}`;
  const headers = { authorization: `Basic ${Buffer.from(`${account}:${token}`).toString("base64")}` };
  const common = (signal: AbortSignal) => ({ answers: ERROR_STATUSES, nowMs: clock.now(), signal });
  const read = (
    path: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<PlatformAnswer> => {
    const asked = new URLSearchParams(query).toString();
    const url = `${root}${path}.json${asked === "" ? "" : `?${asked}`}`;
    return platformCall(fetch, { ...common(signal), method: "GET", url, headers });
  };
  const write = (path: string, form: FormFields, signal: AbortSignal): Promise<PlatformAnswer> =>
    platformCall(fetch, {
      ...common(signal),
      method: "POST",
      url: `${root}${path}.json`,
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
      body: written(form),
    });
  const taken = (answer: PlatformAnswer): Fields => {
    if (answer.status >= 400) throw problemOf(answer, clock.now());
    return fieldsOf(answer.json);
  };
  const ofCall = (answer: PlatformAnswer): Fields | undefined =>
    answer.status >= 400 && isOver(answer) ? undefined : taken(answer);
  return {
    root,
    headers,
    get: async (path, query, signal) => taken(await read(path, query, signal)),
    post: async (path, form, signal) => taken(await write(path, form, signal)),
    getCall: async (sid, signal) => ofCall(await read(`/Calls/${sid}`, {}, signal)),
    updateCall: async (sid, form, signal) => ofCall(await write(`/Calls/${sid}`, form, signal)),
  };
}

function written(form: FormFields): string {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    const values = value === undefined ? [] : typeof value === "object" ? value : [String(value)];
    for (const one of values) fields.append(name, one);
  }
  return fields.toString();
}

/** All of them are answers here: which of them is worth another try is for the body to say. */
const ERROR_STATUSES: readonly number[] = Array.from({ length: 200 }, (_, index) => 400 + index);
