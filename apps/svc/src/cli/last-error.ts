/** What last went wrong with a channel or a feature, in one line for a person. */
import { second } from "./moment.ts";

// No interfaces: what comes from the daemon is JSON, which an interface is never known to be.
export type Past = {
  readonly reason: string | null;
  readonly last_failure: { readonly reason: string; readonly at: string } | null;
};

/** The newest message that could not be answered or delivered. */
export type PastMessage = { readonly code: string; readonly message: string; readonly at: string };

/** The newer of the two; blank when there is none, or when it is what is wrong now, which is told anyway. */
export function lastErrorText({ reason, last_failure: failure }: Past, error: PastMessage | null = null): string {
  const past = failure?.reason === reason ? null : failure;
  if (error !== null && error.at > (past?.at ?? "")) return said(error.at, `${error.code} (${error.message})`);
  return past === null ? "" : said(past.at, past.reason);
}

const said = (at: string, what: string): string => `last error ${second(at)}: ${what}`;
