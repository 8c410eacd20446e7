/**
 * The collector, reached by the library's exporter. What is added is what the exporter lacks: it takes no variable of the
 * environment's, it can be cut off, and it says how long the collector wants to be left alone.
 *
 * The exporter tries again by itself, with back-off, while its time lasts; it follows no redirect.
 */
import { Agent as HttpAgent, type Agent, IncomingMessage } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { type Clock, SvcError, trimEndOf } from "@svc/contract";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { ObservabilityConfig } from "../config.ts";
import { withoutEnvironment } from "./without-environment.ts";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { retryAfterMs } from "@svc/kit";
import { DiagLogLevel, type DiagLogger, diag } from "@opentelemetry/api";

export interface Collector {
  /** One at a time. Never rejects. */
  send(spans: readonly ReadableSpan[]): Promise<Outcome>;
  /** Ends whatever is under way, and every connection. */
  close(): void;
}

/** Of one `send`, with all that the exporter tries again. Shutdown waits no longer either. */
export const EXPORT_MS = 5_000;
/** The exporter counts only how long nothing comes; a collector that sends a byte now and then would hold it for ever. */
const CUT_OFF_MS = 2 * EXPORT_MS;

/** Throws CONFIG_INVALID. */
export async function openCollector(config: ObservabilityConfig, clock: Clock): Promise<Collector> {
  const url = tracesUrl(config.otel_endpoint);
  const headers = headersOf(config.otel_headers);
  const agent = new (new URL(url).protocol === "https:" ? HttpsAgent : HttpAgent)({ keepAlive: true });
  let isClosed = false;
  const { OTLPTraceExporter } = await EXPORTERS[config.otel_protocol]();
  const exporter: SpanExporter = withoutEnvironment(
    () =>
      new OTLPTraceExporter({
        url,
        // Asked for before each try: this is what ends the exporter's own.
        headers: async () => {
          if (isClosed) throw new Error("closed");
          return headers;
        },
        httpAgentOptions: () => agent,
        timeoutMillis: EXPORT_MS,
        userAgent: "svc",
      }),
  );
  const retryAfter = listenForRetryAfter(agent, clock);
  const rejections = listenForRejections();

  const cut = (): void => {
    for (const sockets of Object.values(agent.sockets)) {
      // An error that the exporter does not know is one that it does not try again after.
      for (const socket of sockets ?? []) socket.destroy(new Error("cut off"));
    }
  };
  return {
    send: (spans) =>
      new Promise<Outcome>((resolve) => {
        retryAfter.forget();
        rejections.forget();
        const stop = clock.after(CUT_OFF_MS, () => {
          resolve({ kind: "failed", reason: "timeout", retryAfterMs: undefined });
          cut();
        });
        exporter.export([...spans], ({ error }) => {
          stop();
          resolve(outcomeOf(error, { rejected: rejections.count, retryAfterMs: retryAfter.ms }));
        });
        // What can't be written won't be written another time either.
      }).catch((): Outcome => ({ kind: "refused", reason: "unwritable" })),
    close() {
      isClosed = true;
      retryAfter.stop();
      cut();
      agent.destroy();
    },
  };
}

const EXPORTERS = {
  "http/protobuf": () => import("@opentelemetry/exporter-trace-otlp-proto"),
  "http/json": () => import("@opentelemetry/exporter-trace-otlp-http"),
} as const;

/** `/v1/traces` below the base, whatever path that has. */
function tracesUrl(base: string): string {
  const url = new URL(base);
  url.pathname = `${trimEndOf(url.pathname, "/")}/v1/traces`;
  return url.href;
}

// `otel_headers`, written as https://opentelemetry.io/docs/specs/otel/protocol/exporter/ has it for the environment.

/** Throws CONFIG_INVALID, which quotes nothing. */
function headersOf(pairs: string | undefined): Record<string, string> {
  const whole = (pairs ?? "").split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(whole.map((pair) => headerOf(pair.trim())));
}

function headerOf(pair: string): [name: string, value: string] {
  const index = pair.indexOf("=");
  const name = pair.slice(0, Math.max(index, 0));
  const value = decoded(pair.slice(index + 1));
  if (TOKEN.test(name) && value !== undefined && VALUE.test(value)) return [name, value];
  throw new SvcError("CONFIG_INVALID", "A pair in observability.otel_headers is no header.", {
    hint: "Write name=value pairs joined by commas, the values percent-encoded: authorization=Bearer%20…",
  });
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** How it went to send spans to a collector. */
export type Outcome =
  /** `rejected`: of those, spans that it says it did not take. */
  | { readonly kind: "taken"; readonly rejected: number }
  /** It will not take them, however often it is asked. */
  | { readonly kind: "refused"; readonly reason: Reason }
  /** Another time, perhaps. `retryAfterMs`: as it asked for. */
  | { readonly kind: "failed"; readonly reason: Reason; readonly retryAfterMs: number | undefined };

/** For the log: a status, or a code of the runtime's. Never a text of the collector's, which may quote what it was sent. */
export type Reason = string;

/**
 * What the exporter tells, in our terms. Statuses that may pass (429, 502, 503, 504) come from it without a status, after it
 * has tried them again; all others are for good, redirects among them.
 */
function outcomeOf(
  error: Error | undefined,
  { rejected, retryAfterMs }: { readonly rejected: number; readonly retryAfterMs: number | undefined },
): Outcome {
  if (error === undefined) return { kind: "taken", rejected };
  const code: unknown = "code" in error ? error.code : undefined;
  if (typeof code === "number") return { kind: "refused", reason: `status ${code}` };
  const isNamed = typeof code === "string" && /^[A-Z][A-Z0-9_]{0,63}$/.test(code);
  return { kind: "failed", reason: isNamed ? code : "unavailable", retryAfterMs };
}

/**
 * How long the collector wants to be left alone. The exporter waits that long when it fits into its own time, and else keeps it to itself;
 * so it is read from the answers as they come in (https://nodejs.org/api/diagnostics_channel.html#http).
 */
interface RetryAfter {
  /** Milliseconds, of the last answer that asked for any; at most an hour. */
  readonly ms: number | undefined;
  forget(): void;
  stop(): void;
}

const CHANNEL = "http.client.response.finish";
/** A collector that names the year 2100 is tried again all the same. */
const LONGEST_MS = 3_600_000;

/** Of the answers that came over this agent. */
function listenForRetryAfter(agent: Agent, clock: Clock): RetryAfter {
  let ms: number | undefined;
  const listener = (message: unknown): void => {
    const { request, response } = message as { request: { agent?: unknown }; response: IncomingMessage };
    if (request.agent !== agent) return;
    const asked = retryAfterMs(response.headers["retry-after"], clock.now());
    ms = asked === undefined ? undefined : Math.min(asked, LONGEST_MS);
  };
  subscribe(CHANNEL, listener);
  return {
    get ms() {
      return ms;
    },
    forget: () => {
      ms = undefined;
    },
    stop: () => void unsubscribe(CHANNEL, listener),
  };
}

/**
 * Spans that a collector says it did not take, in an answer that says 200 (`partial_success`). The exporter tells of them to the library's
 * logger and to nobody else, with the collector's own words, which are not repeated here.
 */
interface Rejections {
  /** Since the last `forget`. */
  readonly count: number;
  forget(): void;
}

const MESSAGE = "Received Partial Success response:";

/** The logger is one for the process, and the last to listen has it: after a reload that is the collector in force. */
function listenForRejections(): Rejections {
  let count = 0;
  const nothing = (): void => {};
  const warn: DiagLogger["warn"] = (message, answer) => {
    if (message === MESSAGE) count += rejectedIn(answer);
  };
  const logger: DiagLogger = { error: nothing, warn, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  return {
    get count() {
      return count;
    },
    forget: () => {
      count = 0;
    },
  };
}

/** `{"rejectedSpans": 3, "errorMessage": "…"}`; an int64 is a text in JSON. */
function rejectedIn(answer: unknown): number {
  try {
    const { rejectedSpans } = JSON.parse(String(answer)) as { rejectedSpans?: unknown };
    const count = Number(rejectedSpans ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}
