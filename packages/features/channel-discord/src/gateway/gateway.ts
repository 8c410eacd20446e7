/**
 * One session with the platform's gateway. The library connects, beats and resumes; here is decided where it may connect to,
 * how often, and when it has failed.
 * https://docs.discord.com/developers/events/gateway
 */
import { Encoding, type IContextFetchingStrategy, type SessionInfo, WebSocketShardStatus } from "@discordjs/ws";
import { type FeatureContext, SvcError } from "@svc/contract";
import type { GatewayDispatchPayload } from "discord-api-types/v10";
import { API_VERSION } from "../api/rest.ts";
import { finalError } from "./close-codes.ts";
import type { IdentifyPace } from "./identify-pace.ts";
import { INTENTS } from "./intents.ts";
import { shardOf } from "./shard.ts";

export interface GatewayOptions {
  /** As the platform told it: `wss://…`. */
  readonly url: string;
  readonly token: string;
  readonly context: Pick<FeatureContext, "clock" | "resolve" | "log">;
  readonly pace: IdentifyPace;
  /** In the order of the platform. */
  readonly onDispatch: (payload: GatewayDispatchPayload) => void;
}

export interface Gateway {
  /** Rejects with why it is over: FEATURE_FAILED, REMOTE_*. Never resolves. */
  readonly over: Promise<never>;
  /** At once; `over` stays as it is. */
  stop(): void;
}

/** Connections in a row that came to nothing. */
const MOST_ATTEMPTS = 3;
/** From a connection that was lost, or the first try, until events come again. */
const READY_MS = 60_000;
/** The platform's beats are 41 s apart, and the library gives up a connection that missed one; it may take a while to close. */
const SILENCE_MS = 150_000;

export function openGateway({ url, token, context, pace, onDispatch }: GatewayOptions): Gateway {
  const { clock, resolve, log } = context;
  const { promise: over, reject } = Promise.withResolvers<never>();
  over.catch(() => undefined);
  const ending = new AbortController();
  let session: SessionInfo | null = null;
  let attempts = 0;
  let cancelLimit = (): void => undefined;

  const stop = (): void => {
    if (ending.signal.aborted) return;
    ending.abort();
    cancelLimit();
    end();
  };
  const fail = (error: SvcError): void => {
    if (!ending.signal.aborted) reject(error);
    stop();
  };
  const limit = (ms: number, message: string): void => {
    cancelLimit();
    if (!ending.signal.aborted) cancelLimit = clock.after(ms, () => fail(lost(message)));
  };
  const beginsAnew = (): void => limit(READY_MS, "The platform's gateway does not get ready.");
  const isAlive = (): void => limit(SILENCE_MS, "The platform's gateway says nothing any more.");
  const isReady = (): void => {
    attempts = 0;
    isAlive();
  };

  const strategy: IContextFetchingStrategy = {
    options: optionsOf(url, token),
    async retrieveSessionInfo() {
      if (shard.status !== WebSocketShardStatus.Idle) return session;
      // It is about to connect, and asks here first.
      return (await mayConnect()) ? session : never();
    },
    updateSessionInfo(_id, info) {
      session = info && { ...info, resumeURL: typeof info.resumeURL === "string" ? info.resumeURL : url };
    },
    async waitForIdentify(_id, signal) {
      await pace.pass(AbortSignal.any([signal, ending.signal])).catch(async (reason: unknown) => {
        // Whatever it is told, it would identify.
        if (ending.signal.aborted) await never();
        throw reason;
      });
    },
  };
  const { shard, end } = shardOf(strategy, () => fail(lost("The platform's gateway breaks its protocol.")));

  async function mayConnect(): Promise<boolean> {
    attempts += 1;
    if (attempts > MOST_ATTEMPTS) fail(lost("The platform's gateway can't be reached."));
    else await resolve(session?.resumeURL ?? url).catch((cause: unknown) => fail(refused(cause)));
    return !ending.signal.aborted;
  }

  shard.on("closed", ({ code }) => {
    const final = finalError(code);
    if (final !== undefined) return fail(final);
    log.debug("the gateway's connection is closed", { code });
    beginsAnew();
  });
  shard.on("ready", isReady);
  shard.on("resumed", isReady);
  shard.on("heartbeat", isAlive);
  shard.on("dispatch", ({ data }) => {
    if (!ending.signal.aborted) onDispatch(data);
  });
  beginsAnew();
  // What it resolves or rejects with shows in its events.
  shard.connect().catch(() => undefined);
  return { over, stop };
}

/** The library can't be told to connect no more. What it waits for here is never there, and is forgotten with it. */
const never = (): Promise<never> => new Promise(() => undefined);

const optionsOf = (url: string, token: string): IContextFetchingStrategy["options"] => ({
  token,
  intents: INTENTS,
  gatewayInformation: {
    url,
    shards: 1,
    session_start_limit: { total: 1, remaining: 1, reset_after: 0, max_concurrency: 1 },
  },
  shardCount: 1,
  version: String(API_VERSION),
  encoding: Encoding.JSON,
  compression: null,
  identifyProperties: { os: process.platform, browser: "svc", device: "svc" },
  initialPresence: null,
  largeThreshold: 50,
  handshakeTimeout: 30_000,
  helloTimeout: 30_000,
  readyTimeout: 15_000,
});

const lost = (message: string): SvcError => new SvcError("REMOTE_UNREACHABLE", message);

/** An address that may not be connected to is the platform's fault, or of who stands in for it: it is tried again. */
const refused = (cause: unknown): SvcError =>
  cause instanceof SvcError && cause.code === "ADDRESS_REFUSED"
    ? new SvcError("REMOTE_UNREACHABLE", "The gateway's address, which the platform hands out, is refused.", {
        cause,
        ...(cause.hint !== undefined && { hint: cause.hint }),
      })
    : new SvcError("REMOTE_UNREACHABLE", "The gateway's name could not be resolved.", { cause });
