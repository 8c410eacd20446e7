/** `[observability]`: who watches. */
import { httpUrl, secret } from "@svc/contract";
import * as v from "valibot";
import { flag, text } from "./schema-pieces.ts";

/** Each backend by the names it goes by. */
const CANONICAL = {
  none: "none",
  noop: "none",
  log: "log",
  metrics: "metrics",
  otel: "otel",
  opentelemetry: "otel",
  otlp: "otel",
} as const;

export const observability = v.strictObject({
  backend: v.optional(
    v.pipe(
      v.picklist(["none", "noop", "log", "metrics", "otel", "opentelemetry", "otlp"]),
      v.description(
        "Where observations go: none (none, noop), the log (a line for each turn and delivery), GET /metrics, or an OTLP collector (otel, opentelemetry, otlp).",
      ),
      v.transform((name) => CANONICAL[name]),
    ),
    "log",
  ),
  otel_endpoint: v.optional(
    v.pipe(httpUrl(), v.description("Base URL of the OTLP/HTTP collector; /v1/traces is added.")),
    "http://127.0.0.1:4318",
  ),
  otel_protocol: v.optional(
    v.pipe(
      v.picklist(["http/protobuf", "http/json"]),
      v.description("Encoding of traces; every collector accepts the first."),
    ),
    "http/protobuf",
  ),
  otel_service_name: v.optional(text("Service name in the traces."), "svc"),
  otel_headers: v.optional(
    v.pipe(
      secret(),
      v.check(
        (pairs) => /^\s*$|^[^=,\s]+=[^,\s]*(?:,[^=,\s]+=[^,\s]*)*$/.test(pairs),
        "name=value pairs joined by commas",
      ),
      v.description("Headers for the collector, e.g. authorization=Bearer%20token; values percent-encoded."),
    ),
  ),
  otel_sampling: v.optional(
    v.pipe(v.number(), v.minValue(0), v.maxValue(1), v.description("Share of traces to record, 0 to 1.")),
    1,
  ),
  otel_record_content: flag(false, "Record messages, prompts and tool results in traces, too."),
});
