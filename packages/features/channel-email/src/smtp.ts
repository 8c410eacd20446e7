/** One mail by one connection to the SMTP server: nothing is shared, so that nothing of one mail can happen to another. */
import { type ErrorCode, SvcError } from "@svc/contract";
import { unlessAborted } from "@svc/kit";
import { domainToASCII } from "node:url";
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { type Account, hostOf, type Login, smtpServer, trustOf } from "./account.ts";
import { refused, untrusted } from "./imap.ts";

export interface Envelope {
  readonly to: string;
  readonly mail: Buffer;
}

export interface Sent {
  /** With the angle brackets; some providers give a mail another one than it had. */
  readonly messageId: string | undefined;
}

export interface Smtp {
  /** Throws DELIVERY_REFUSED, DELIVERY_FAILED, CHANNEL_UNAUTHORIZED, REMOTE_*, ADDRESS_REFUSED, CONFIG_INVALID. */
  send(envelope: Envelope, signal: AbortSignal): Promise<Sent>;
  /** Signs in and out. Throws as `send`. */
  check(signal: AbortSignal): Promise<void>;
}

const STEP_MS = 30_000;
const QUIET_MS = 60_000;

export function createSmtp(account: Account): Smtp {
  const { config, logins } = account;
  return {
    send: ({ to, mail }, signal) =>
      logins.use(
        (login) =>
          connected(account, login, signal, async (connection) => {
            const envelope = { from: config.address, to: [to], size: mail.length };
            const info = await called<SMTPConnection.SentMessageInfo | undefined>((done) =>
              connection.send(envelope, mail, done),
            );
            return { messageId: info?.serverMessageId };
          }),
        signal,
      ),
    check: (signal) => logins.use((login) => connected(account, login, signal, async () => undefined), signal),
  };
}

async function connected<T>(
  { config, resolve }: Account,
  login: Login,
  signal: AbortSignal,
  work: (connection: SMTPConnection) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const server = smtpServer(config);
  const [host, tls] = await Promise.all([hostOf(server, resolve), trustOf(config)]);
  // Only who has such a mailbox needs the library.
  const { default: Connection } = await import("nodemailer/lib/smtp-connection");
  signal.throwIfAborted();
  const connection = new Connection({
    host,
    port: server.port,
    secure: server.security === "tls",
    requireTLS: server.security === "starttls",
    ignoreTLS: server.security === "none",
    // Not the machine's name, which is no one's business.
    name: domainToASCII(config.address.slice(config.address.lastIndexOf("@") + 1)) || "localhost",
    tls,
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
    socketTimeout: QUIET_MS,
    socketCloseTimeout: 0,
    allowInternalNetworkInterfaces: true,
    customAuth: { [TOKEN]: signInByToken },
  });
  const broken = new Promise<never>((_, reject) => {
    connection.on("error", reject);
    connection.once("end", () => reject(new SvcError("REMOTE_UNREACHABLE", "The SMTP server ended the connection.")));
  });
  broken.catch(() => undefined);
  const step = <R>(one: Promise<R>): Promise<R> => unlessAborted(Promise.race([one, broken]), signal);
  try {
    await step(called((done) => connection.connect(done)));
    await step(signIn(connection, login));
    const result = await step(work(connection));
    // The mail is accepted; don't wait for the answer to QUIT.
    connection.quit();
    return result;
  } catch (error) {
    connection.close();
    signal.throwIfAborted();
    throw smtpFailure(error);
  }
}

/** Our own mechanism name: with `XOAUTH2` the library would fetch tokens itself. */
const TOKEN = "SVC-TOKEN";

function signIn(connection: SMTPConnection, { user, password, token }: Login): Promise<unknown> {
  // A server that lets this machine send without asking who it is has nothing to check a password with.
  if (!connection.allowsAuth) return Promise.resolve();
  if (token === undefined) return called((done) => connection.login({ credentials: { user, pass: password } }, done));
  return called((done) => connection.login({ method: TOKEN, user, pass: token }, done));
}

/** https://learn.microsoft.com/en-us/exchange/client-developer/legacy-protocols/how-to-authenticate-an-imap-pop-smtp-application-by-using-oauth */
async function signInByToken({
  auth,
  sendCommand,
  resolve,
  reject,
}: SMTPConnection.CustomAuthenticationContext): Promise<void> {
  const { user, pass: token } = auth.credentials;
  const said = Buffer.from(`user=${user}\x01auth=Bearer ${token}\x01\x01`).toString("base64");
  const first = await sendCommand(`AUTH XOAUTH2 ${said}`);
  // It says first why it refuses, and then that it does.
  const last = first.status === 334 ? await sendCommand("") : first;
  if (last.status >= 200 && last.status <= 299) resolve();
  else reject("The token is refused.");
}

type Done<T> = (error?: Error | null, result?: T) => void;

const called = <T>(work: (done: Done<T>) => void): Promise<T> =>
  new Promise((resolve, reject) => work((error, result) => (error ? reject(error) : resolve(result as T))));

/**
 * What the SMTP client throws, as an error that says whether to try again: never with a word of the server's. RFC 5321, 4.2.
 */
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
    // A lack of the connection, not of this message.
    if (code === "EAUTH") return refused();
    if (code === "EMESSAGE") return tooLarge();
    const why = /^E[A-Z]{3,20}$/.test(originalCode) ? ` (${originalCode})` : "";
    return new SvcError("REMOTE_UNREACHABLE", `The SMTP server can't be reached, or broke off${why}.`);
  }
  const message = `The SMTP server answered with ${responseCode}${enhancedIn(response)}.`;
  const isAboutUs = code === "EAUTH" || /^AUTH\b/.test(command) || [530, 534, 535, 538].includes(responseCode);
  if (responseCode < 500) return later(isAboutUs ? "REMOTE_UNREACHABLE" : "DELIVERY_FAILED", message, response);
  if (isAboutUs) return refused();
  // Before a mail was named: the server wants no connection at all.
  if (!/^(?:MAIL|RCPT|DATA)\b/.test(command)) return later("REMOTE_UNREACHABLE", message, response);
  return new SvcError("DELIVERY_REFUSED", message, {
    hint: HINTS[responseCode] ?? "Check the recipient's address, and what our server sends for us.",
  });
}

const HINTS: Readonly<Record<number, string>> = { 552: "The mail, or the mailbox it goes to, is too large." };

const tooLarge = (): SvcError =>
  new SvcError("DELIVERY_REFUSED", "The mail is larger than the SMTP server takes.", {
    hint: "Send smaller files, or fewer.",
  });

const later = (code: ErrorCode, message: string, response: string | undefined): SvcError => {
  const retryAfterMs = waitIn(response);
  return new SvcError(code, message, retryAfterMs === undefined ? {} : { retryAfterMs });
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
