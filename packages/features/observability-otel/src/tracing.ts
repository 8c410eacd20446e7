/**
 * Work as spans. What a span is part of is said by a `traceparent` and by nothing else: the library's implicit contexts are
 * not used.
 *
 * Which work is recorded:
 *
 *   of recorded work     whatever is part of it, also after a restart: its traceparent says so (flag 01)
 *   of unrecorded work   nothing; the traceparent is handed on as it is (flag 00)
 *   new                  the share `otel_sampling` of the trace ids
 *   a request from outside with a traceparent
 *                        is part of that trace. Flag 01, which says that the caller records it, is obeyed: the trace would
 *                        have a hole else. Flag 00 is taken as no decision, since load balancers add it to every request,
 *                        and there would be no traces at all behind one.
 *
 * What a stranger can do with that: nothing. Which requests are told is decided when they end, and one that was refused is
 * not (`RequestWatch`), whatever it asked for. Those whose requests are taken can have all of theirs recorded; rate limits
 * bound them, the queue bounds the memory, and `otel_sampling` is no promise about them. They can also take part in a trace
 * whose id they know; all they put there is what any request of theirs leaves.
 */
import { ROOT_CONTEXT, type Span, trace, type Tracer } from "@opentelemetry/api";
import { ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from "@opentelemetry/sdk-trace";
import type { FeatureContext, Work, WorkKind, WorkWatch } from "@svc/contract";
import type { ObservabilityConfig } from "./config.ts";
import { openCollector } from "./export/collector.ts";
import { SpanQueue } from "./export/queue.ts";
import { resourceOf } from "./resource.ts";
import { cleaned, cleanText } from "./spans/clean.ts";
import { SHAPES } from "./spans/shapes.ts";
import { hrTimeOf } from "./spans/time.ts";
import { isSampled, readTraceparent, writeTraceparent } from "./spans/traceparent.ts";
import { RequestWatch, SpanWatch } from "./spans/watch.ts";

export interface Tracing {
  begin<Kind extends WorkKind>(work: Work<Kind>): WorkWatch<Kind> | undefined;
  /** Sends what is queued, for 5 s at most. Whatever ends afterwards is not told. */
  close(): Promise<void>;
}

/** Throws CONFIG_INVALID. */
export async function openTracing(
  context: Pick<FeatureContext<ObservabilityConfig>, "config" | "build" | "log" | "clock">,
): Promise<Tracing> {
  const { config, build, log, clock } = context;
  const collector = await openCollector(config, clock);
  const queue = new SpanQueue({ collector, log, clock });
  const share = new TraceIdRatioBasedSampler(config.otel_sampling);
  const provider = new TracerProvider({
    resource: resourceOf(config.otel_service_name, build.version),
    sampler: new ParentBasedSampler({ root: share, remoteParentNotSampled: share }),
    spanProcessors: [queue],
  });
  const spans = new Spans(provider.getTracer("svc"), config.otel_record_content);
  return {
    begin: (work) => spans.begin(work),
    close: () => queue.shutdown(),
  };
}

class Spans {
  readonly #tracer: Tracer;
  readonly #recordsContent: boolean;
  /** Requests that run and are recorded, by their traceparent. */
  readonly #requests = new Map<string, RequestWatch>();

  constructor(tracer: Tracer, recordsContent: boolean) {
    this.#tracer = tracer;
    this.#recordsContent = recordsContent;
  }

  begin<Kind extends WorkKind>(work: Work<Kind>): WorkWatch<Kind> | undefined {
    const { kind, facts, parent } = work;
    if (isRequest(work)) return this.#beginRequest(work) as WorkWatch<Kind> | undefined;
    if (parent !== undefined) {
      if (!isSampled(parent)) return unrecorded(parent);
      this.#requests.get(parent)?.hasParts();
    }
    const span = this.#start(work);
    const traceparent = writeTraceparent(span.spanContext());
    if (!span.isRecording()) return unrecorded(traceparent);
    span.setAttributes(cleaned(SHAPES[kind].attributes(facts)));
    return new SpanWatch({ kind, span, traceparent, recordsContent: this.#recordsContent });
  }

  #beginRequest(work: Work<"request">): WorkWatch<"request"> | undefined {
    if (UNTOLD.has(work.facts.route)) return undefined;
    const span = this.#start(work);
    const traceparent = writeTraceparent(span.spanContext());
    if (!span.isRecording()) return unrecorded(traceparent);
    span.setAttributes(cleaned(SHAPES.request.attributes(work.facts)));
    const watch = new RequestWatch({ span, traceparent, onEnd: () => this.#requests.delete(traceparent) });
    this.#requests.set(traceparent, watch);
    return watch;
  }

  /** Its attributes come when it is known to be recorded. */
  #start({ kind, facts, parent, startedAtMs }: Work): Span {
    const shape = SHAPES[kind] as (typeof SHAPES)[WorkKind];
    const options = { kind: shape.kind, startTime: hrTimeOf(startedAtMs) };
    const context =
      parent === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, { ...readTraceparent(parent), isRemote: kind === "request" });
    return this.#tracer.startSpan(cleanText(shape.name(facts as never)), options, context);
  }
}

const isRequest = (work: Work): work is Work<"request"> => work.kind === "request";

/** What strangers, scrapers and browsers ask for all day, as the gateway names the routes. */
const UNTOLD: ReadonlySet<string> = new Set(["/health", "/metrics", "/openapi.json", "page"]);

/** Hands on the decision, and does nothing else. */
const unrecorded = (traceparent: string): WorkWatch => ({ traceparent, end: () => {} });
