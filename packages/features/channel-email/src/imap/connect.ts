/** A connection to the IMAP server, signed in. */
import type { ImapFlow } from "imapflow";
import type { Account } from "../account/account.ts";
import type { Login } from "../account/logins.ts";
import { hostOf, imapServer, trustOf } from "../account/servers.ts";
import { within } from "../account/time-limit.ts";
import { imapFailure } from "./failure.ts";

/** Name look-up, connection, TLS and login together. */
const CONNECT_MS = 120_000;
const STEP_MS = 30_000;
/** Only where everything else fails: the session looks itself whether the server is there. */
const QUIET_MS = 1_800_000;

/** Throws CHANNEL_UNAUTHORIZED, REMOTE_*, ADDRESS_REFUSED, CONFIG_INVALID. */
export function connect(account: Account, signal: AbortSignal): Promise<ImapFlow> {
  return account.logins.use((login) => signIn(account, login, signal), signal);
}

async function signIn({ config, clock, resolve }: Account, login: Login, signal: AbortSignal): Promise<ImapFlow> {
  signal.throwIfAborted();
  const server = imapServer(config);
  const [host, tls] = await Promise.all([hostOf(server, resolve), trustOf(config)]);
  // Only who has such a mailbox needs the library.
  const { ImapFlow } = await import("imapflow");
  signal.throwIfAborted();
  const client = new ImapFlow({
    host,
    port: server.port,
    secure: server.security === "tls",
    doSTARTTLS: server.security === "starttls",
    tls,
    auth:
      login.token === undefined
        ? { user: login.user, pass: login.password }
        : { user: login.user, accessToken: login.token },
    clientInfo: { name: "svc" },
    logger: false,
    disableAutoIdle: true,
    disableCompression: true,
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: QUIET_MS,
    // What the largest piece that is asked for takes, and nothing that a broken server could fill the memory with.
    maxLiteralSize: 33_554_432,
    maxLineLength: 16_777_216,
    maxResponseSize: 67_108_864,
    maxResponseTokens: 500_000,
  });
  // Who waits is told by the promise; an event that nobody hears would end the process.
  client.on("error", () => undefined);
  try {
    await within(clock, CONNECT_MS, signal, client.connect());
    return client;
  } catch (error) {
    client.close();
    signal.throwIfAborted();
    throw imapFailure(error);
  }
}
