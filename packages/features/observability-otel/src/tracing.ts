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
import { type Attributes, ROOT_CONTEXT, type SpanContext } from "@opentelemetry/api";
import {
  RandomIdGenerator,
  type ReadableSpan,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { FeatureContext, Json, Work, WorkKind, WorkResults, WorkWatch } from "@svc/contract";
import type { ObservabilityConfig } from "./config.ts";
import { openCollector } from "./export/collector.ts";
import { SpanQueue } from "./export/queue.ts";
import { EndedSpan, type Origin, type RecordedWork } from "./span.ts";
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
    if (UNRECORDED_ROUTES.has(work.facts.route)) return undefined;
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
const UNRECORDED_ROUTES: ReadonlySet<string> = new Set(["/health", "/metrics", "/openapi.json", "page"]);

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

// A piece of work that is recorded, until it ends.

/** Where spans come from, and where they go to. */
interface SpanMaker {
  readonly origin: Origin;
  readonly add: (span: ReadableSpan) => void;
}

class SpanWatch<Kind extends WorkKind> implements WorkWatch<Kind> {
  readonly traceparent: string;
  /** Not there where the operator did not ask for it: core then does not even make the text. */
  readonly content?: (direction: "input" | "output", said: Json) => void;
  readonly #maker: SpanMaker;
  readonly #work: RecordedWork<Kind>;
  #content: Attributes | undefined;

  constructor(maker: SpanMaker, work: RecordedWork<Kind>, recordsContent: boolean) {
    this.#maker = maker;
    this.#work = work;
    this.traceparent = writeTraceparent(work.context);
    if (!recordsContent) return;
    this.content = (direction, said) => {
      this.#content = { ...this.#content, ...contentOf(work.kind, direction, said) };
    };
  }

  end(result: WorkResults[Kind], endedAtMs: number): void {
    const { origin, add } = this.#maker;
    add(new EndedSpan(origin, this.#work, { result, endedAtMs, content: this.#content }));
  }
}

/**
 * A request is told when it was served, or when something was begun for it. Neither is a stranger's to choose: one that is
 * refused, or gives up before anything was done, leaves nothing, so that nobody outside can fill the collector.
 */
class RequestWatch extends SpanWatch<"request"> {
  readonly #onEnd: (traceparent: string) => void;
  #hasParts = false;

  constructor(maker: SpanMaker, work: RecordedWork<"request">, onEnd: (traceparent: string) => void) {
    super(maker, work, false);
    this.#onEnd = onEnd;
  }

  /** Something is part of it, whose trace would have a hole without it. */
  hasParts(): void {
    this.#hasParts = true;
  }

  override end(result: WorkResults["request"], endedAtMs: number): void {
    this.#onEnd(this.traceparent);
    if (this.#hasParts || isServed(result.status)) super.end(result, endedAtMs);
  }
}

/** 503 is a refusal too ("not now"), which strangers meet where a channel is out of service. */
const isServed = (status: number | undefined): boolean =>
  status !== undefined && (status < 400 || (status >= 500 && status !== 503));

// W3C `traceparent` of version 00, https://www.w3.org/TR/trace-context/#traceparent-header.

/** Of a well-formed one (`isTraceparent`). Of its flags only `sampled` is known here. */
const readTraceparent = (text: string): SpanContext => ({
  traceId: text.slice(3, 35),
  spanId: text.slice(36, 52),
  traceFlags: isSampled(text) ? 1 : 0,
});

const writeTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & 1}`;

/** The lowest bit of the flags, the last character's: `01`, and `03` of later levels. */
const isSampled = (text: string): boolean => "13579bdf".includes(text.at(-1) as string);

/**
 * What was said, as attributes: only called where the operator asked for it. Messages are written as the conventions' JSON schemas demand
 * (https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-input-messages.json), as one JSON text, which
 * most tools show and which can be kept short.
 */
type Direction = "input" | "output";

/** None for kinds of work in which nothing is said. */
function contentOf(kind: WorkKind, direction: Direction, said: Json): Attributes {
  switch (kind) {
    case "turn":
    case "model-call":
      return direction === "input"
        ? { "gen_ai.input.messages": JSON.stringify(inputMessages(said)) }
        : { "gen_ai.output.messages": JSON.stringify([outputMessage(said)]) };
    case "tool-call":
      return { [direction === "input" ? "gen_ai.tool.call.arguments" : "gen_ai.tool.call.result"]: textOf(said) };
    default:
      return {};
  }
}

/** A person's question, or the messages that go to the model (`{role, content}`, content a text or parts). */
const inputMessages = (said: Json): Json =>
  (Array.isArray(said) ? said : [{ role: "user", content: said }]).map((message: Json) => ({
    role: textAt(message, "role") ?? "user",
    parts: partsOf(valueAt(message, "content") ?? message),
  }));

/** The answer: a text, or the model's parts. */
function outputMessage(said: Json): Json {
  const parts = partsOf(said);
  const isCalling = parts.some((part) => textAt(part, "type") === "tool_call");
  return { role: "assistant", parts, finish_reason: isCalling ? "tool_call" : "stop" };
}

const partsOf = (content: Json): Json[] =>
  Array.isArray(content) ? content.map(partOf) : [{ type: "text", content: textOf(content) }];

function partOf(part: Json): Json {
  const type = textAt(part, "type");
  switch (type) {
    case "text":
    case "reasoning":
      return { type, content: textAt(part, "text") ?? "" };
    case "tool-call":
      return {
        type: "tool_call",
        id: textAt(part, "toolCallId") ?? null,
        name: textAt(part, "toolName") ?? "",
        arguments: valueAt(part, "input") ?? null,
      };
    case "tool-result":
      return {
        type: "tool_call_response",
        id: textAt(part, "toolCallId") ?? null,
        response: valueAt(valueAt(part, "output"), "value") ?? valueAt(part, "output") ?? null,
      };
    default:
      // A file, say: that there is one, and of what type; never its bytes.
      return { type: type ?? "unknown", mime_type: textAt(part, "mediaType") ?? null };
  }
}

const textOf = (said: Json): string => (typeof said === "string" ? said : JSON.stringify(said));

const valueAt = (value: Json | undefined, key: string): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)[key]
    : undefined;

function textAt(value: Json | undefined, key: string): string | undefined {
  const found = valueAt(value, key);
  return typeof found === "string" ? found : undefined;
}
