/** The carrier's API. */
import { type FeatureContext, SvcError } from "@svc/contract";
import { fieldsOf, parseJson, wordOf } from "@svc/kit";
import type { Config } from "./index.ts";

export interface CarrierApi {
  /** Our account's name. Throws FEATURE_FAILED when the key is refused. */
  account(signal: AbortSignal): Promise<string>;
  /** A session for one customer. */
  openSession(signal: AbortSignal): Promise<string>;
  placeOf(parcel: string, as: { session: string; code: string | undefined }, signal: AbortSignal): Promise<string>;
}

export function carrierApi({ config, fetch }: FeatureContext<Config>): CarrierApi {
  const ask = async (path: string, field: string, options: Parameters<typeof fetch>[1]): Promise<string> => {
    const { status, bytes } = await fetch(`${config.api_url}${path}`, { redirects: "none", ...options });
    const word = wordOf(fieldsOf(parseJson(bytes))[field]);
    if (status === 200 && word !== undefined) return word;
    if (status === 401) throw new SvcError("FEATURE_FAILED", "The carrier refuses the key.");
    throw new SvcError("REMOTE_UNREACHABLE", "The carrier gave no answer that makes sense.");
  };
  const key = { authorization: `Bearer ${config.api_key}` };
  return {
    account: (signal) => ask("/account", "name", { headers: key, signal }),
    openSession: (signal) => ask("/sessions", "session", { method: "POST", headers: key, signal }),
    placeOf: (parcel, { session, code }, signal) =>
      ask(`/parcels/${parcel}`, "place", {
        headers: { authorization: `Bearer ${session}`, ...(code !== undefined && { "x-door-code": code }) },
        signal,
      }),
  };
}
