/**
 * The life of the linked device: it is linked, connects, hands decrypted messages to the inbox, and is unlinked again. A connection
 * belongs to `run`; linking opens a separate one, and then rebuilds the feature.
 */
import { type FeatureContext, type Inbound, SvcError } from "@svc/contract";
import { asFinal, senderGate, withTimeout } from "@svc/kit";
import type { AuthenticationCreds } from "baileys";
import {
  CHANNEL,
  CREDENTIALS,
  type Connection,
  LINK_HINT,
  type Library,
  LoggedOut,
  RestartAsked,
  type WebSection,
  openConnection,
} from "./connection.ts";
import { numberIn, readMessage, userOf } from "./inbound.ts";
import { type SessionStore, type StoredMessage, openSessionStore } from "./session-store.ts";

export interface Session {
  /** Connects and stays so until it is stopped. Rejects with why the connection ended. */
  run(signal: AbortSignal): Promise<void>;
  /** Waits for the connection. Throws CHANNEL_DOWN, or the reason why it can't connect. */
  connected(signal: AbortSignal): Promise<Connected>;
  /** Opens a connection for an account that is not linked yet. `onCode`: text of a code to scan. */
  openUnlinked(
    onCode: (text: string) => void,
    onConnection: (connection: Connection) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** The linked account's number; undefined while none is. */
  account(): Promise<string | undefined>;
  /** Whether `run` is under way. */
  readonly isRunning: boolean;
}

export interface Connected {
  readonly connection: Connection;
  readonly store: SessionStore;
}

/** Deliveries wait so long for a connection that is being made. */
const CONNECT_WAIT_MS = 20_000;
const MOST_AT_ONCE = 50;
/** Reason for missing credentials: the phone has logged the account out. */
const LOGGED_OUT = "logged-out";

export function createSession(context: FeatureContext<WebSection>): Session {
  const { config: section, log, clock, secrets } = context;
  const isAllowed = senderGate({ allowed: section.allowed_numbers, mode: "phone", log, channel: CHANNEL });
  let current: Connected | undefined;
  let next = Promise.withResolvers<void>();
  let ended: SvcError | undefined;
  let isRunning = false;

  const hold = async (store: SessionStore, credentials: AuthenticationCreds, signal: AbortSignal): Promise<never> => {
    const wake = createWake();
    const connection = await openConnection({ context, section, store, credentials, onMessage: wake.ring }, signal);
    const stop = new AbortController();
    const taking = takeMessages(
      { context, section, store, connection, isAllowed, wake },
      AbortSignal.any([signal, stop.signal]),
    );
    // A message that was decrypted before the last disconnect can be handled at once.
    wake.ring();
    try {
      await connection.opened;
      current = { connection, store };
      ended = undefined;
      next.resolve();
      log.info("the platform knows this channel", { account: numberIn(credentials.me?.id ?? "") ?? "unknown" });
      throw await connection.closed;
    } finally {
      if (current) next = Promise.withResolvers();
      current = undefined;
      stop.abort();
      await connection.close();
      await taking;
    }
  };

  return {
    async run(signal) {
      try {
        signal.throwIfAborted();
        isRunning = true;
        if (ended) next = Promise.withResolvers();
        ended = undefined;
        const store = await openSessionStore(secrets, section.session_path);
        const credentials = credentialsIn(store);
        if (credentials === undefined) throw store.get(LOGGED_OUT) === true ? new LoggedOut() : notLinked();
        for (;;) {
          try {
            await hold(store, credentials, signal);
          } catch (error) {
            if (error instanceof LoggedOut) await forgetDevice(store, true);
            if (!(error instanceof RestartAsked) || signal.aborted) throw error;
          }
        }
      } catch (error) {
        if (signal.aborted) return;
        ended =
          error instanceof SvcError
            ? error
            : new SvcError("REMOTE_UNREACHABLE", "The connection could not be made.", { cause: error });
        next.resolve();
        throw asFinal(ended);
      } finally {
        isRunning = false;
      }
    },
    async connected(signal) {
      signal.throwIfAborted();
      if (current === undefined && ended === undefined) {
        const limit = { clock, timeoutMs: CONNECT_WAIT_MS, signal, error: notConnected };
        await withTimeout(limit, () => next.promise);
      }
      if (current) return current;
      throw ended ?? notConnected();
    },
    async openUnlinked(onCode, onConnection, signal) {
      const store = await openSessionStore(secrets, section.session_path);
      const { initAuthCreds } = await import("baileys");
      await forgetDevice(store, false);
      const deps = { context, section, store, credentials: initAuthCreds(), onMessage: () => undefined, onCode };
      const connection = await openConnection(deps, signal);
      onConnection(connection);
      try {
        await connection.opened;
        // The platform ends the connection once it has our answer.
        await connection.closed;
      } finally {
        await connection.close();
      }
      if (credentialsIn(store) === undefined) throw notLinked();
    },
    get isRunning() {
      return isRunning;
    },
    async account() {
      return numberIn(credentialsIn(await openSessionStore(secrets, section.session_path))?.me?.id ?? "");
    },
  };
}

const notConnected = (): SvcError =>
  new SvcError("CHANNEL_DOWN", "The channel is not connected; messages wait until it is.");

const notLinked = (): SvcError =>
  new SvcError("CHANNEL_DOWN", "No account is linked with this channel.", { hint: LINK_HINT });

function credentialsIn(store: SessionStore): AuthenticationCreds | undefined {
  const stored = store.get(CREDENTIALS) as AuthenticationCreds | undefined;
  return stored?.account ? structured(stored, store) : undefined;
}

/** Numbers of keys that are stored and were never told to the platform are not given out a second time. */
function structured(stored: AuthenticationCreds, store: SessionStore): AuthenticationCreds {
  const ids = store.entries("key/pre-key/").map(([name]) => Number(name.slice("key/pre-key/".length)));
  return { ...stored, nextPreKeyId: Math.max(stored.nextPreKeyId, ...ids.map((id) => id + 1)) };
}

/** Keys of a device that the phone has logged out open nothing any more. Messages that were decrypted stay. */
async function forgetDevice(store: SessionStore, isLoggedOut: boolean): Promise<void> {
  const changes = new Map<string, unknown>([
    [CREDENTIALS, undefined],
    [LOGGED_OUT, isLoggedOut ? true : undefined],
  ]);
  for (const [name] of store.entries("key/")) changes.set(name, undefined);
  await store.commit(changes);
}

interface TakeDeps {
  readonly context: Pick<FeatureContext, "receive" | "log" | "clock">;
  readonly section: WebSection;
  readonly store: SessionStore;
  readonly connection: Connection;
  readonly isAllowed: (sender: string) => boolean;
  readonly wake: Wake;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Hands messages to the inbox in their order, until it is stopped. Those that can't be stored are handed over again. */
async function takeMessages(deps: TakeDeps, signal: AbortSignal): Promise<void> {
  const { context, connection, wake } = deps;
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    await wake.rung(signal);
    for (;;) {
      if (signal.aborted) return;
      const messages = connection.signal.waiting().slice(0, MOST_AT_ONCE);
      if (messages.length === 0) break;
      try {
        const inbound = messages.flatMap((message) => read(deps, message) ?? []);
        if (inbound.length > 0) await context.receive(inbound);
        await connection.signal.taken(messages);
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        if (signal.aborted) return;
        const code = error instanceof SvcError ? error.code : String(error);
        context.log.warn("messages could not be stored; will retry", { channel: CHANNEL, code, retryInMs: pauseMs });
        await context.clock.sleep(pauseMs, signal).catch(() => undefined);
        pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2);
      }
    }
  }
}

function read(
  { context, section, store, connection, isAllowed }: TakeDeps,
  message: StoredMessage,
): Inbound | undefined {
  const { id = "", lid } = connection.socket.authState.creds.me ?? {};
  const library: Library = connection.library;
  const reader = {
    library,
    section,
    self: { phone: id, lid },
    phoneOfLid: (user: string) => {
      const phone = store.get(`key/lid-mapping/${userOf(user)}_reverse`);
      return typeof phone === "string" ? numberIn(phone) : undefined;
    },
    isAllowed,
  };
  try {
    return readMessage(reader, message);
  } catch {
    // Its words may be in the error.
    context.log.warn("a message can't be read and is dropped", { channel: CHANNEL });
    return undefined;
  }
}

interface Wake {
  ring(): void;
  /** Resolves once it was rung since the last time, and when it is stopped. */
  rung(signal: AbortSignal): Promise<void>;
}

function createWake(): Wake {
  let bell = Promise.withResolvers<void>();
  return {
    ring: () => bell.resolve(),
    async rung(signal) {
      if (signal.aborted) return;
      const stop = Promise.withResolvers<void>();
      const abort = (): void => stop.resolve();
      signal.addEventListener("abort", abort, { once: true });
      await Promise.race([bell.promise, stop.promise]);
      signal.removeEventListener("abort", abort);
      bell = Promise.withResolvers();
    },
  };
}
