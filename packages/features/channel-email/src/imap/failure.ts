/** What the client library throws, as an error of ours: never with a word of the server's, nor with what was sent to it. */
import { type ErrorCode, SvcError } from "@svc/contract";

/** The library can't read an answer: the same question would end in the same way. */
export class UnreadableAnswer extends SvcError {
  constructor() {
    super("REMOTE_UNREACHABLE", "The mail server's answer can't be read.");
  }
}

export function imapFailure(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const told = (error ?? {}) as LibraryError;
  if (UNREADABLE.test(told.code ?? "")) return new UnreadableAnswer();
  if (told.authenticationFailed === true && !NOT_NOW.has(told.serverResponseCode ?? "")) return refused();
  if (told.mailboxMissing === true || told.code === "NotFound") return missing();
  if (told.tlsFailed === true || CERTIFICATE.test(told.code ?? "")) return untrusted();
  const code: ErrorCode = LATE.has(told.code ?? "") ? "REMOTE_TIMEOUT" : "REMOTE_UNREACHABLE";
  const { throttleReset: retryAfterMs } = told;
  const wait = typeof retryAfterMs === "number" && retryAfterMs > 0 ? { retryAfterMs } : {};
  if (told.authenticationFailed === true)
    return new SvcError(code, "The mail server lets nobody sign in at the moment.", wait);
  const why = /^[A-Z][A-Za-z_]{2,40}$/.test(told.code ?? "") ? ` (${told.code})` : "";
  return new SvcError(code, `The IMAP server can't be reached, or broke off${why}.`, wait);
}

interface LibraryError {
  readonly code?: string;
  readonly authenticationFailed?: boolean;
  readonly serverResponseCode?: string;
  readonly mailboxMissing?: boolean;
  readonly tlsFailed?: boolean;
  readonly throttleReset?: number;
}

/** RFC 5530: the server can't say now whether the login is right. RFC 2221: or wants to be asked elsewhere. */
const NOT_NOW = new Set(["UNAVAILABLE", "INUSE", "LIMIT", "SERVERBUG", "REFERRAL", "CONTACTADMIN"]);
const LATE = new Set([
  "CONNECT_TIMEOUT",
  "GREETING_TIMEOUT",
  "UPGRADE_TIMEOUT",
  "ETIMEOUT",
  "ETIMEDOUT",
  "LockTimeout",
]);
const UNREADABLE =
  /^(?:ParserError.*|MAX_IMAP_NESTING_REACHED|LineTooLarge|LiteralTooLarge|ResponseTooLarge|TooManyTokens|TooManyResponses|ResponseProcessingFailed)$/;
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|^ERR_TLS|^ERR_SSL|HOSTNAME_MISMATCH/;

export const refused = (): SvcError =>
  new SvcError("CHANNEL_UNAUTHORIZED", "The mail server refuses the user name, the password or the token.", {
    hint: "Check username and password of [channels_config.email]; many providers want an app password or a token there.",
  });

const missing = (): SvcError =>
  new SvcError("CHANNEL_CANNOT", "There is no mailbox of a name that the config has.", {
    hint: "Check mailbox, processed_mailbox and save_sent; names are as the server calls them, with its separator.",
  });

export const untrusted = (): SvcError =>
  new SvcError(
    "REMOTE_UNREACHABLE",
    "The connection to the mail server can't be made safe: its certificate, or TLS itself.",
    {
      hint: "Check the host's name, port and security; for a server with an authority of its own set tls_ca_file.",
    },
  );
