/**
 * One connection of the linked device, by the library. Everything that the library would fetch or do by itself is off: history,
 * link previews, versions, the online mark. The end of a connection becomes an error with the next step.
 */
import { type FeatureContext, SvcError } from "@svc/contract";
import { Semaphore } from "@svc/kit";
import type { AuthenticationCreds, BinaryNode, UserFacingSocketConfig, WASocket } from "baileys";
import { pinnedAgent } from "./line.ts";
import { type SessionStore, type SignalKeys, createSignalKeys } from "./session-store.ts";

export type Library = typeof import("baileys");

/** The credentials of the linked device in the session store. */
export const CREDENTIALS = "credentials";
const SENT = "sent/";

export interface Connection {
  readonly library: Library;
  readonly socket: WASocket;
  readonly signal: SignalKeys;
  /** Resolves once the platform takes messages, or the account is linked: then the connection ends and must be made anew. */
  readonly opened: Promise<"open" | "linked">;
  /** Resolves with why it ended. */
  readonly closed: Promise<SvcError>;
  close(): Promise<void>;
}

export interface ConnectionDeps {
  readonly context: Pick<FeatureContext, "clock" | "log" | "resolve">;
  readonly section: WebSection;
  readonly store: SessionStore;
  readonly credentials: AuthenticationCreds;
  readonly onMessage: () => void;
  /** The text of a code to scan, for an account that is not linked. */
  readonly onCode?: (text: string) => void;
}

const CONNECT_LIMIT_MS = 20_000;

/** Rejects with ADDRESS_REFUSED, REMOTE_UNREACHABLE. */
export async function openConnection(deps: ConnectionDeps, signal: AbortSignal): Promise<Connection> {
  const { context, section, store, credentials, onMessage, onCode } = deps;
  const library = await import("baileys");
  const url = socketUrl(section);
  const [address] = await context.resolve(url);
  signal.throwIfAborted();
  if (address === undefined) throw new SvcError("REMOTE_UNREACHABLE", "The platform's host has no address.");
  const opened = Promise.withResolvers<"open" | "linked">();
  const closed = Promise.withResolvers<SvcError>();
  opened.promise.catch(() => undefined);
  let hasEnded = false;
  const end = (why: SvcError): void => {
    if (hasEnded) return;
    hasEnded = true;
    closed.resolve(why);
    opened.reject(why);
    cancelLimit();
    signal.removeEventListener("abort", abort);
    void socket.end(undefined).catch(() => undefined);
    // A socket that was never open is not closed by the library, and a peer that is gone does not answer its close.
    rawSocketOf(socket)?.terminate();
  };
  const abort = (): void => end(new SvcError("DRAINING"));
  const signalKeys = createSignalKeys(store, library, {
    onMessage,
    onFailure: (error) => end(error instanceof SvcError ? error : new SvcError("STORE_FAILED")),
  });
  const config: UserFacingSocketConfig = {
    version: versionOf(section) ?? library.DEFAULT_CONNECTION_CONFIG.version,
    waWebSocketUrl: url,
    // Only a server on this machine has another root.
    ...(section.web_root_key !== undefined && { rootKey: Buffer.from(section.web_root_key, "hex") }),
    agent: pinnedAgent(url, address),
    auth: { creds: credentials, keys: signalKeys.keys },
    makeSignalRepository: signalKeys.makeRepository,
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
    logger: silentLogger(),
    browser: ["svc", "Desktop", "1.0"],
    connectTimeoutMs: CONNECT_LIMIT_MS,
    defaultQueryTimeoutMs: CONNECT_LIMIT_MS,
    markOnlineOnConnect: false,
    syncFullHistory: false,
    shouldSyncHistoryMessage: () => false,
    fireInitQueries: false,
    emitOwnEvents: false,
    generateHighQualityLinkPreview: false,
    shouldIgnoreJid: (jid) => jid.endsWith("@newsletter") || jid === "status@broadcast",
    getMessage: async ({ id }) => {
      const bytes = store.get(`${SENT}${id}`);
      return bytes instanceof Uint8Array ? library.proto.Message.decode(bytes) : undefined;
    },
  };
  const socket = library.makeWASocket(config);
  guardListeners(socket.ws, () => end(new SvcError("REMOTE_UNREACHABLE", "The platform sent what can't be read.")));
  const cancelLimit = context.clock.after(CONNECT_LIMIT_MS * 2, () => {
    if (onCode === undefined) end(new SvcError("REMOTE_TIMEOUT", "The platform did not take the connection in time."));
  });
  void opened.promise.then(cancelLimit, () => undefined);
  signal.addEventListener("abort", abort, { once: true });
  socket.ws.on("unexpected-response", (_request: unknown, response: { statusCode?: number }) => {
    end(handshakeRefusal(response.statusCode ?? 0));
  });
  socket.ws.on("frame", (frame: BinaryNode | Uint8Array) => {
    if (frame instanceof Uint8Array) return;
    signalKeys.arrived(frame);
    // The library handles those in their order that waited for us on the platform, and any others beside them: one that overtakes the
    // key of its sender in a group can't be read.
    if (frame.tag === "message") frame.attrs["offline"] ??= "0";
  });
  let isLinked = credentials.account !== undefined && credentials.account !== null;
  socket.ev.on("creds.update", (update) => {
    Object.assign(credentials, update);
    isLinked ||= update.account !== undefined;
    // Before the account is linked, the credentials belong to no account.
    if (!isLinked) return;
    store.commit(new Map([[CREDENTIALS, { ...credentials }]])).catch((error: unknown) => {
      end(error instanceof SvcError ? error : new SvcError("STORE_FAILED"));
    });
  });
  socket.ev.on("connection.update", ({ connection, qr, lastDisconnect, isNewLogin }) => {
    if (qr !== undefined) onCode?.(qr);
    if (isNewLogin === true) opened.resolve("linked");
    if (connection === "open") opened.resolve("open");
    if (connection === "close") end(endOf(lastDisconnect?.error));
  });
  return {
    library,
    socket,
    signal: signalKeys,
    opened: opened.promise,
    closed: closed.promise,
    async close() {
      end(new SvcError("DRAINING"));
      await closed.promise;
    },
  };
}

/** The library's WebSocket has a field that its types do not tell. */
const rawSocketOf = (socket: WASocket): { terminate(): void } | undefined =>
  (socket.ws as unknown as { socket?: { terminate(): void } | null }).socket ?? undefined;

/**
 * The library's listeners are asynchronous, and a rejection of theirs, as of a frame that can't be decrypted, would end the process.
 * What comes from the network is read one after the other: a frame that must be inflated would be overtaken by the next.
 */
function guardListeners(emitter: NodeJS.EventEmitter, onRejection: () => void): void {
  for (const event of emitter.eventNames()) {
    const listeners = emitter.rawListeners(event) as ((...values: unknown[]) => unknown)[];
    emitter.removeAllListeners(event);
    for (const listener of listeners) {
      const oneAtATime = new Semaphore(1);
      const call = async (values: unknown[]): Promise<unknown> => await listener.apply(emitter, values);
      emitter.on(event, (...values: unknown[]) => {
        const read = event === "message" ? oneAtATime.run(() => call(values)) : call(values);
        read.catch(onRejection);
      });
    }
  }
}

/** The library logs keys and whole messages. */
function silentLogger(): NonNullable<UserFacingSocketConfig["logger"]> {
  const none = (): void => undefined;
  const logger = { level: "silent", trace: none, debug: none, info: none, warn: none, error: none };
  return { ...logger, child: () => silentLogger() };
}

/**
 * A device that was logged out on the phone; its keys are worthless. It is no CHANNEL_UNAUTHORIZED, which would take the feature out of
 * service, and with it the way to link the account again.
 */
export class LoggedOut extends SvcError {
  constructor() {
    super("CHANNEL_DOWN", "The account's phone has logged this linked device out.", { hint: LINK_HINT });
  }
}

/** The platform asks for a new connection: after linking, and now and then. */
export class RestartAsked extends SvcError {
  constructor() {
    super("REMOTE_UNREACHABLE", "The platform asked for a new connection.");
  }
}

const HOUR_MS = 3_600_000;

/** Status of the library's errors: https://baileys.wiki/docs/api/enumerations/DisconnectReason */
function endOf(error: unknown): SvcError {
  const { output, message = "" } = (error ?? {}) as { output?: { statusCode?: number }; message?: string };
  if (message.includes("certificate") || message.includes("certification")) {
    return new SvcError(
      "REMOTE_UNREACHABLE",
      "The server is not the platform's: its certificate is signed by another key.",
      {
        hint: "Look for a proxy between this machine and the platform.",
        retryAfterMs: HOUR_MS / 60,
      },
    );
  }
  switch (output?.statusCode) {
    case 401:
      return new LoggedOut();
    case 402:
    case 403:
      return new SvcError("CHANNEL_DOWN", "The platform has banned or locked the account.", {
        hint: "Open WhatsApp on the phone: it says why and how to appeal. Then: svc channels link provider_a",
        retryAfterMs: HOUR_MS,
      });
    case 405:
    case 409:
      return new SvcError("REMOTE_UNREACHABLE", "The platform does not accept this version of WhatsApp Web any more.", {
        hint: "Update svc, or set web_version in [channels_config.provider_a] to the current one.",
        retryAfterMs: HOUR_MS,
      });
    case 411:
      return new SvcError("CHANNEL_DOWN", "The account does not allow linked devices.", {
        hint: LINK_HINT,
        retryAfterMs: HOUR_MS,
      });
    case 440:
      return new SvcError(
        "REMOTE_UNREACHABLE",
        "Another program has connected with the session of this linked device.",
        {
          hint: "Stop the other program, or link this one anew: svc channels link provider_a",
          retryAfterMs: HOUR_MS / 6,
        },
      );
    case 408:
      return new SvcError("REMOTE_TIMEOUT", "The platform did not answer in time.");
    case 515:
      return new RestartAsked();
    default:
      return new SvcError("REMOTE_UNREACHABLE", "The connection to the platform has ended.");
  }
}

function handshakeRefusal(status: number): SvcError {
  if (status === 401 || status === 403) {
    return new SvcError("CHANNEL_UNAUTHORIZED", "The platform refuses the connection of this device.", {
      hint: LINK_HINT,
    });
  }
  return new SvcError("REMOTE_UNREACHABLE", `The platform answered the connection with status ${status}.`);
}

/** Sent messages are kept for those who could not read them, and ask for them again. */
export function sentChanges(store: SessionStore, id: string, bytes: Uint8Array): Map<string, unknown> {
  const changes = new Map<string, unknown>([[`${SENT}${id}`, bytes]]);
  const order = (store.get(SENT_ORDER) as readonly string[] | undefined) ?? [];
  const next = [...order.filter((one) => one !== id), id];
  for (const old of next.splice(0, Math.max(0, next.length - MOST_SENT))) changes.set(`${SENT}${old}`, undefined);
  return changes.set(SENT_ORDER, next);
}

const SENT_ORDER = "sent-order";
const MOST_SENT = 200;

/** Asks the platform for a sign of life. Rejects with CHANNEL_UNAUTHORIZED, REMOTE_*. */
export async function ping({ socket, closed }: Connection, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const over = Promise.withResolvers<never>();
  const abort = (): void => over.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  void closed.then((why) => over.reject(why));
  over.promise.catch(() => undefined);
  const asked = socket.query({
    tag: "iq",
    attrs: { to: "s.whatsapp.net", type: "get", xmlns: "w:p" },
    content: [{ tag: "ping", attrs: {} }],
  });
  asked.catch(() => undefined);
  try {
    await Promise.race([asked, over.promise]);
  } catch (error) {
    const { data } = (error ?? {}) as { readonly data?: unknown };
    if (data === 401 || data === 403)
      throw new SvcError("CHANNEL_UNAUTHORIZED", "The platform refuses this linked device.", { hint: LINK_HINT });
    if (error instanceof SvcError || signal.aborted) throw error;
    throw new SvcError("REMOTE_UNREACHABLE", "The platform did not answer.", { cause: error });
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** The keys of `[channels_config.provider_a]` that Web mode reads; `channel-provider-a` declares them. */
export interface WebSection {
  readonly session_path: string;
  readonly pair_phone?: string | undefined;
  readonly mode: "business" | "personal";
  readonly allowed_numbers: readonly string[];
  readonly group_policy: "allowlist" | "ignore";
  readonly mention_only: boolean;
  readonly api_url: string;
  readonly web_version?: string | undefined;
  readonly web_root_key?: string | undefined;
}

/** The channel's id: the last part of the section's name. */
export const CHANNEL = "provider_a";

/** Where the account is linked again, in every message that says that it is not. */
export const LINK_HINT = "Link the account: svc channels link provider_a";

/** `api_url` is Cloud mode's unless it was set for a proxy or a test. */
const CLOUD_HOST = "graph.facebook.com";

function socketUrl({ api_url: url }: Pick<WebSection, "api_url">): string {
  const { protocol, hostname, host } = new URL(url);
  if (hostname === CLOUD_HOST) return "wss://web.whatsapp.com/ws/chat";
  return `${protocol === "http:" ? "ws" : "wss"}://${host}/ws/chat`;
}

/** Where files are fetched from: what a message says of the host is its sender's word. */
export function mediaOrigin({ api_url: url }: Pick<WebSection, "api_url">): string {
  const { hostname, origin } = new URL(url);
  return hostname === CLOUD_HOST ? "https://mmg.whatsapp.net" : origin;
}

/** Where a file is sent to, of the hosts that the platform offers; undefined for one that is not its own. */
export function uploadOrigin(section: Pick<WebSection, "api_url">, host: string): string | undefined {
  const own = mediaOrigin(section);
  if (new URL(own).host === host) return own;
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.whatsapp\.net$/.test(host) ? `https://${host}` : undefined;
}

/** Undefined: the library's. */
function versionOf({ web_version: text }: Pick<WebSection, "web_version">): [number, number, number] | undefined {
  if (text === undefined) return undefined;
  const [major = 0, minor = 0, patch = 0] = text.split(".").map(Number);
  return [major, minor, patch];
}
