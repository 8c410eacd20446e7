/** Socket Mode as long as it lasts: one connection after the other, without a moment between them where the platform asks for it. */
import { SocketModeClient, type SocketModeOptions } from "@slack/socket-mode";
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { withTimeout } from "@svc/kit";
import type { ArrivalQueue } from "./history.ts";
import { inboundOf, type ReadingDeps } from "./events.ts";
import { type CheckedLine, checkedLine } from "./line.ts";
import { fieldsOf, textOf } from "./protocol.ts";
import { clientFetch, problemOf, quietLog, requestHeaders } from "./web-api.ts";

export interface SessionDeps {
  readonly apiUrl: string;
  readonly appToken: string;
  readonly reading: ReadingDeps;
  readonly queue: ArrivalQueue;
  /** Called when a connection begins, before anything comes by it, and when it is over: something may have come by none. */
  readonly mayHaveMissed: () => void;
  readonly context: Pick<FeatureContext, "clock" | "fetch" | "log" | "resolve">;
}

export interface Session {
  /** Until it is lost. Rejects with REMOTE_* then, and with the signal's reason. */
  run(signal: AbortSignal): Promise<never>;
}

/** The platform may ask for another connection right after the last one. */
const LEAST_MS = 1_000;
/** An old connection may still bring what was on its way. */
const LINGER_MS = 5_000;

/** Resolves once the platform has said hello. Rejects as `openConnection`. */
export async function openSession(deps: SessionDeps, signal: AbortSignal): Promise<Session> {
  const { clock, log } = deps.context;
  const connect = (): Promise<Connection> => openConnection(connectionDeps(deps), signal);
  let current = await connect();
  let openedMs = clock.monotonic();
  return {
    async run(end) {
      const lingering = new Set<Connection>();
      const aborted = Promise.withResolvers<never>();
      const abort = (): void => aborted.reject(end.reason);
      aborted.promise.catch(() => undefined);
      end.addEventListener("abort", abort, { once: true });
      try {
        end.throwIfAborted();
        for (;;) {
          const why = await Promise.race([current.lost, current.leaving.then(() => undefined), aborted.promise]);
          if (why instanceof SvcError) throw why;
          log.debug("the platform asks for another connection");
          await clock.sleep(Math.max(0, openedMs + LEAST_MS - clock.monotonic()), end);
          const old = current;
          lingering.add(old);
          current = await connect();
          openedMs = clock.monotonic();
          const cancel = clock.after(LINGER_MS, () => old.close());
          void old.lost.then(() => {
            cancel();
            lingering.delete(old);
          });
        }
      } finally {
        end.removeEventListener("abort", abort);
        for (const connection of [...lingering, current]) connection.close();
      }
    },
  };
}

const connectionDeps = ({ apiUrl, appToken, reading, queue, mayHaveMissed, context }: SessionDeps): ConnectionDeps => ({
  apiUrl,
  appToken,
  context,
  mayHaveMissed,
  take: (payload, confirm) => queue.push({ inbound: inboundOf(payload, reading), confirm }),
});

/**
 * One connection of Socket Mode, by the platform's own client, whose reconnecting is off: this file has to say when a connection
 * is over, and nothing else. https://docs.slack.dev/apis/events-api/using-socket-mode
 */
interface Connection {
  /** Resolves when the platform asks us to come back by another one. */
  readonly leaving: Promise<void>;
  /** Resolves, never rejects, with why it is over. */
  readonly lost: Promise<SvcError>;
  /** Ends it. What was not acknowledged comes again, by another. */
  close(): void;
}

interface ConnectionDeps extends Pick<SessionDeps, "mayHaveMissed"> {
  readonly apiUrl: string;
  readonly appToken: string;
  readonly context: Pick<FeatureContext, "clock" | "fetch" | "resolve">;
  /** Takes what came in; `acknowledge` tells the platform that it is kept, and never rejects. */
  readonly take: (payload: Json, acknowledge: () => void) => void;
}

/** Greetings come at once; a connection without one is none. */
const HELLO_LIMIT_MS = 30_000;
/** The client pings three times in this time, and gives up when no one answers. */
const PING_LIMIT_MS = 20_000;

/** Resolves once the platform has said hello. Rejects as `WebApi`, and with REMOTE_*. */
async function openConnection(deps: ConnectionDeps, signal: AbortSignal): Promise<Connection> {
  signal.throwIfAborted();
  const { context } = deps;
  const line = checkedLine(context);
  const client = new QuietClient(clientOptions(deps, line, signal), deps);
  const greeted = client.start();
  const lost = Promise.withResolvers<SvcError>();
  client.on("disconnected", () => {
    deps.mayHaveMissed();
    lost.resolve(line.why ?? over());
  });
  const close = (): void => {
    const { websocket } = client;
    if (websocket?.isActive() === true) void client.disconnect();
    line.close();
    // Told once more, the library does not wait for a farewell: half a minute, and the end of the process with it.
    if (websocket?.readyState === WebSocket.CLOSING) websocket.disconnect();
  };
  const error = (): Error => new SvcError("REMOTE_TIMEOUT", "Slack did not say hello.");
  try {
    await withTimeout({ clock: context.clock, timeoutMs: HELLO_LIMIT_MS, signal, error }, () => greeted);
    return { leaving: client.leaving, lost: lost.promise, close };
  } catch (error) {
    close();
    signal.throwIfAborted();
    // The client says nothing of why a connection failed; the line knows.
    throw line.why ?? (error === undefined ? over() : asConnectError(error));
  } finally {
    greeted.catch(() => undefined);
  }
}

const over = (): SvcError => new SvcError("REMOTE_UNREACHABLE", "The connection to Slack has ended.");

/** A message was not refused here. */
function asConnectError(error: unknown): SvcError {
  const problem = problemOf(error);
  if (!problem.code.startsWith("DELIVERY_")) return problem;
  const { message, hint, retryAfterMs } = problem;
  return new SvcError("REMOTE_UNREACHABLE", message, {
    ...(hint !== undefined && { hint }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function clientOptions(
  { apiUrl, appToken, context }: ConnectionDeps,
  line: CheckedLine,
  signal: AbortSignal,
): SocketModeOptions {
  const fetch = clientFetch(context.fetch, signal);
  return {
    appToken,
    autoReconnectEnabled: false,
    clientPingTimeout: PING_LIMIT_MS,
    logger: quietLog(),
    dispatcher: line.dispatcher,
    clientOptions: {
      slackApiUrl: apiUrl,
      headers: requestHeaders(appToken),
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      // The address that the platform hands out is looked at before anyone connects to it.
      fetch: async (url, init) => {
        const answer = await fetch(url, init);
        await line.check(textOf(fieldsOf(readJson(await answer.text()))["url"]));
        return answer;
      },
    },
  };
}

function readJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

const ENVELOPES: ReadonlySet<unknown> = new Set(["events_api", "interactive", "slash_commands"]);
/** What the client itself tells by its events: a payload that names itself so would be taken for that. */
const OWN_EVENTS: ReadonlySet<unknown> = new Set(
  "authenticated close connected connecting disconnected disconnecting error outgoing_message reconnecting slack_event ws_message".split(
    " ",
  ),
);

/** Passes only readable frames to the client: on others it throws where no handler catches. */
class QuietClient extends SocketModeClient {
  readonly #asked = Promise.withResolvers<void>();
  readonly #greeted: () => void;

  constructor(options: SocketModeOptions, { take, mayHaveMissed }: Pick<ConnectionDeps, "take" | "mayHaveMissed">) {
    super(options);
    this.#greeted = mayHaveMissed;
    this.on("slack_event", ({ body, ack }: { readonly body: Json; readonly ack: () => Promise<void> }) =>
      take(body, () => void ack().catch(() => undefined)),
    );
  }

  get leaving(): Promise<void> {
    return this.#asked.promise;
  }

  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    if (isBinary || typeof data !== "string") return;
    const { type, envelope_id: id, payload } = fieldsOf(readJson(data));
    // The client would end the connection before there is another.
    if (type === "disconnect") return this.#asked.resolve();
    if (type === "hello") this.#greeted();
    const event = fieldsOf(fieldsOf(payload)["event"])["type"];
    const isEvent = typeof event === "string" && !OWN_EVENTS.has(event);
    const isEnvelope = ENVELOPES.has(type) && typeof id === "string" && (type !== "events_api" || isEvent);
    if (type === "hello" || isEnvelope) await super.onWebSocketMessage(data, isBinary);
  }
}
