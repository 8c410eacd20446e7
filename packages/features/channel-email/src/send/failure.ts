/** What the SMTP client throws, as an error that says whether to try again: never with a word of the server's. RFC 5321, 4.2. */
import { type ErrorCode, SvcError } from "@svc/contract";
import { refused, untrusted } from "../imap/failure.ts";

interface LibraryError {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
  readonly response?: string;
  /** Of the system, e.g. of TLS. */
  readonly originalCode?: string;
}

export function smtpFailure(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const { code = "", command = "", responseCode, response, originalCode = "" } = (error ?? {}) as LibraryError;
  if (code === "ETLS" || /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|^ERR_TLS|^ERR_SSL/.test(originalCode)) return untrusted();
  if (code === "ETIMEDOUT") return new SvcError("REMOTE_TIMEOUT", "The SMTP server did not answer in time.");
  if (responseCode === undefined) {
    // What it can't do has nothing to do with this message.
    if (code === "EAUTH") return refused();
    if (code === "EMESSAGE") return tooLarge();
    const why = /^E[A-Z]{3,20}$/.test(originalCode) ? ` (${originalCode})` : "";
    return new SvcError("REMOTE_UNREACHABLE", `The SMTP server can't be reached, or broke off${why}.`);
  }
  const told = `The SMTP server answered with ${responseCode}${enhancedIn(response)}.`;
  const isAboutUs = code === "EAUTH" || /^AUTH\b/.test(command) || [530, 534, 535, 538].includes(responseCode);
  if (responseCode < 500) return later(isAboutUs ? "REMOTE_UNREACHABLE" : "DELIVERY_FAILED", told, response);
  if (isAboutUs) return refused();
  // Before a mail was named: the server wants no connection at all.
  if (!/^(?:MAIL|RCPT|DATA)\b/.test(command)) return later("REMOTE_UNREACHABLE", told, response);
  return new SvcError("DELIVERY_REFUSED", told, {
    hint: HINTS[responseCode] ?? "Check the recipient's address, and what our server sends for us.",
  });
}

const HINTS: Readonly<Record<number, string>> = { 552: "The mail, or the mailbox it goes to, is too large." };

const tooLarge = (): SvcError =>
  new SvcError("DELIVERY_REFUSED", "The mail is larger than the SMTP server takes.", {
    hint: "Send smaller files, or fewer.",
  });

const later = (code: ErrorCode, told: string, response: string | undefined): SvcError => {
  const retryAfterMs = waitIn(response);
  return new SvcError(code, told, retryAfterMs === undefined ? {} : { retryAfterMs });
};

/** RFC 3463: digits of the server's that are safe to show. */
const enhancedIn = (response = ""): string => {
  const status = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1];
  return status === undefined ? "" : ` (${status})`;
};

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const LONGEST_MS = 86_400_000;

/** SMTP has no field for it; servers that put mail off say it in words: "Greylisted, try again in 300 seconds". */
function waitIn(response = ""): number | undefined {
  const words = /\b(?:in|after|for|wait)\s+(\d{1,6})\s*(s|m|h)(?:ec(?:ond)?s?|in(?:ute)?s?|ours?)?\b/i.exec(
    response.slice(0, 1000),
  );
  const ms = Number(words?.[1]) * (UNIT_MS[words?.[2]?.toLowerCase() ?? ""] ?? Number.NaN);
  return Number.isNaN(ms) ? undefined : Math.min(ms, LONGEST_MS);
}
