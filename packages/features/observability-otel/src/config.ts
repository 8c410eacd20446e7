/** The keys of `[observability]` that traces read, as core validates them. */
export interface ObservabilityConfig {
  /** Base URL, http or https. */
  readonly otel_endpoint: string;
  readonly otel_protocol: "http/protobuf" | "http/json";
  readonly otel_service_name: string;
  /** `name=value` pairs joined by commas, values percent-encoded. A secret. */
  readonly otel_headers?: string | undefined;
  /** 0 to 1. */
  readonly otel_sampling: number;
  readonly otel_record_content: boolean;
}
