/**
 * The collector, reached by the library's exporter. What is added is what the exporter lacks: it takes no variable of the
 * environment's, it can be cut off, and it says how long the collector wants to be left alone.
 *
 * The exporter tries again by itself, with back-off, while its time lasts; it follows no redirect.
 */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { type Clock, trimEndOf } from "@svc/contract";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { ObservabilityConfig } from "../config.ts";
import { headersOf } from "./headers.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { listenForRejections } from "./rejections.ts";
import { listenForRetryAfter } from "./retry-after.ts";
import { withoutEnvironment } from "./without-environment.ts";

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
