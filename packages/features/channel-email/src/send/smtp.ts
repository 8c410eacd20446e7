/** One mail by one connection to the SMTP server: nothing is shared, so that nothing of one mail can happen to another. */
import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { SvcError } from "@svc/contract";
import { unlessAborted } from "@svc/kit";
import { domainToASCII } from "node:url";
import type { Account } from "../account/account.ts";
import type { Login } from "../account/logins.ts";
import { hostOf, smtpServer, trustOf } from "../account/servers.ts";
import { smtpFailure } from "./failure.ts";

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
    // Not the machine's name, which is nobody's business.
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
    // What was taken is taken, whatever the server says to a farewell; its answer is not waited for.
    connection.quit();
    return result;
  } catch (error) {
    connection.close();
    signal.throwIfAborted();
    throw smtpFailure(error);
  }
}

/** A name of ours: the library, when it is told XOAUTH2, wants to get tokens itself. */
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
