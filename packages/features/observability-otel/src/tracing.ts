/**
 * Work as spans. What a span is part of is said by a `traceparent` and by nothing else: there are no implicit contexts, and
 * nothing is global.
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
import { ROOT_CONTEXT, type SpanContext } from "@opentelemetry/api";
import { RandomIdGenerator, SamplingDecision, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";
import type { FeatureContext, Work, WorkKind, WorkWatch } from "@svc/contract";
import type { ObservabilityConfig } from "./config.ts";
import { openCollector } from "./export/collector.ts";
import { SpanQueue } from "./export/queue.ts";
import type { RecordedWork } from "./spans/span.ts";
import {
  RequestWatch,
  type SpanMaker,
  SpanWatch,
  isSampled,
  readTraceparent,
  writeTraceparent,
} from "./spans/watch.ts";
import { randomUUID } from "node:crypto";
import { type Resource, defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { ATTR_SERVICE_INSTANCE_ID, ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from "@opentelemetry/semantic-conventions";

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
  const origin = { resource: resourceOf(config.otel_service_name, build.version), scope: { name: "svc" } };
  const works = new Works({ origin, add: (span) => queue.add(span) }, config);
  return {
    begin: (work) => works.begin(work),
    close: () => queue.close(),
  };
}

class Works {
  readonly #maker: SpanMaker;
  readonly #recordsContent: boolean;
  readonly #share: TraceIdRatioBasedSampler;
  readonly #ids = new RandomIdGenerator();
  /** Requests that run and are recorded, by their traceparent. */
  readonly #requests = new Map<string, RequestWatch>();

  constructor(maker: SpanMaker, config: Pick<ObservabilityConfig, "otel_sampling" | "otel_record_content">) {
    this.#maker = maker;
    this.#recordsContent = config.otel_record_content;
    this.#share = new TraceIdRatioBasedSampler(config.otel_sampling);
  }

  begin<Kind extends WorkKind>(work: Work<Kind>): WorkWatch<Kind> | undefined {
    if (isRequest(work)) return this.#beginRequest(work) as WorkWatch<Kind> | undefined;
    const { parent } = work;
    if (parent !== undefined && !isSampled(parent)) return unrecorded(parent);
    if (parent !== undefined) this.#requests.get(parent)?.hasParts();
    const recorded = this.#recorded(work, parent === undefined ? undefined : readTraceparent(parent));
    if (typeof recorded === "string") return unrecorded(recorded);
    return new SpanWatch(this.#maker, recorded, this.#recordsContent);
  }

  #beginRequest(work: Work<"request">): WorkWatch<"request"> | undefined {
    if (UNTOLD.has(work.facts.route)) return undefined;
    const { parent } = work;
    const recorded = this.#recorded(
      work,
      parent === undefined ? undefined : { ...readTraceparent(parent), isRemote: true },
    );
    if (typeof recorded === "string") return unrecorded(recorded);
    const watch = new RequestWatch(this.#maker, recorded, this.#forget);
    this.#requests.set(watch.traceparent, watch);
    return watch;
  }

  readonly #forget = (traceparent: string): void => void this.#requests.delete(traceparent);

  /** Its traceparent, where it is not recorded. */
  #recorded<Kind extends WorkKind>(work: Work<Kind>, parent: SpanContext | undefined): RecordedWork<Kind> | string {
    const { kind, facts, startedAtMs } = work;
    const traceId = parent?.traceId ?? this.#ids.generateTraceId();
    const isRecorded = parent?.traceFlags === 1 || this.#isOfShare(traceId);
    const context = { traceId, spanId: this.#ids.generateSpanId(), traceFlags: isRecorded ? 1 : 0 };
    return isRecorded ? { kind, facts, context, parent, startedAtMs } : writeTraceparent(context);
  }

  #isOfShare(traceId: string): boolean {
    return this.#share.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
  }
}

const isRequest = (work: Work): work is Work<"request"> => work.kind === "request";

/** What strangers, scrapers and browsers ask for all day, as the gateway names the routes. */
const UNTOLD: ReadonlySet<string> = new Set(["/health", "/metrics", "/openapi.json", "page"]);

/** Hands on the decision, and does nothing else. */
const unrecorded = (traceparent: string): WorkWatch => ({ traceparent, end: () => {} });

// Who the spans come from.

/**
 * The library's own description of itself (`telemetry.sdk.*`), the operator's name, our version, and an id of this start. The library's
 * detectors are not asked: they would tell names of host and user, command lines, and OTEL_RESOURCE_ATTRIBUTES.
 */
const resourceOf = (name: string, version: string): Resource =>
  defaultResource().merge(
    resourceFromAttributes({
      [ATTR_SERVICE_NAME]: name,
      [ATTR_SERVICE_VERSION]: version,
      [ATTR_SERVICE_INSTANCE_ID]: randomUUID(),
    }),
  );
