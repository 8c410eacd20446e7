/** The feature as a service has it: constructed, registered, with its observer in force. */
import type { Observer, WorkFacts, WorkKind, WorkWatch } from "@svc/contract";
import { fakeFeatureContext, type FakeFeatureContext } from "@svc/testkit/feature-context";
import type { ObservabilityConfig } from "../src/config.ts";
import { create } from "../src/otel.ts";
import { type Sink, type SinkSpan, startSink } from "./sink.ts";

export interface OpenFeature extends AsyncDisposable {
  readonly observer: Observer;
  readonly context: FakeFeatureContext<ObservabilityConfig>;
  readonly sink: Sink;
  /** Begins a piece of work now; undefined: it is not watched. */
  begin<Kind extends WorkKind>(kind: Kind, facts: WorkFacts[Kind], parent?: string): WorkWatch<Kind> | undefined;
  /** Shuts down; resolves with the spans that came. */
  told(): Promise<readonly SinkSpan[]>;
}

/** The section as it is validated. */
export const sectionOf = (given: Partial<ObservabilityConfig> = {}): ObservabilityConfig => ({
  otel_endpoint: "http://127.0.0.1:4318",
  otel_protocol: "http/json",
  otel_service_name: "svc",
  otel_sampling: 1,
  otel_record_content: false,
  ...given,
});

export async function openFeature(config: Partial<ObservabilityConfig> = {}): Promise<OpenFeature> {
  const sink = await startSink();
  const context = fakeFeatureContext(sectionOf({ otel_endpoint: sink.url, ...config }));
  const { observer, register, shutdown } = create(context);
  await register?.(new AbortController().signal);
  return {
    observer: observer!,
    context,
    sink,
    begin: <Kind extends WorkKind>(kind: Kind, facts: WorkFacts[Kind], parent?: string) =>
      observer!.begin!<Kind>({ kind, facts, parent, startedAtMs: context.clock.now() }),
    async told() {
      await shutdown?.();
      return sink.spans;
    },
    async [Symbol.asyncDispose]() {
      await shutdown?.();
      await sink.close();
    },
  };
}
