/**
 * A span, made once, when its work has ended. The library's own can change until then, and is made by a tracer with contexts
 * and hooks: where nobody uses those it costs three times as much.
 */
import { type Attributes, type HrTime, type SpanContext, type SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { WorkFacts, WorkKind, WorkResults } from "@svc/contract";
import { addCleaned, cleanText } from "./clean.ts";
import { SHAPES } from "./shapes.ts";
import { hrTimeOf } from "./time.ts";

/** A piece of work that is recorded. */
export interface RecordedWork<Kind extends WorkKind> {
  readonly kind: Kind;
  readonly facts: WorkFacts[Kind];
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly startedAtMs: number;
}

export interface WorkEnd<Kind extends WorkKind> {
  readonly result: WorkResults[Kind];
  readonly endedAtMs: number;
  /** What was said in it. */
  readonly content: Attributes | undefined;
}

/** Who tells it; the same for all spans. */
export interface Origin {
  readonly resource: Resource;
  readonly scope: ReadableSpan["instrumentationScope"];
}

export class EndedSpan implements ReadableSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentSpanContext?: SpanContext;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly status: ReadableSpan["status"];
  readonly attributes: Attributes = {};
  readonly resource: Resource;
  readonly instrumentationScope: ReadableSpan["instrumentationScope"];
  readonly links: ReadableSpan["links"] = [];
  readonly events: ReadableSpan["events"] = [];
  readonly ended = true;
  readonly droppedAttributesCount = 0;
  readonly droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly #context: SpanContext;

  constructor(origin: Origin, work: RecordedWork<WorkKind>, end: WorkEnd<WorkKind>) {
    const { kind, facts, context, parent, startedAtMs } = work;
    // One kind's shape takes that kind's facts and result: whoever began the work and ended it was held to that.
    const shape = SHAPES[kind] as (typeof SHAPES)["turn"];
    const { attributes, error } = shape.outcome(end.result as WorkResults["turn"]);
    this.name = cleanText(shape.name(facts as WorkFacts["turn"]));
    this.kind = shape.kind;
    this.#context = context;
    if (parent !== undefined) this.parentSpanContext = parent;
    this.startTime = hrTimeOf(startedAtMs);
    // The wall clock may have gone back.
    this.endTime = hrTimeOf(Math.max(startedAtMs, end.endedAtMs));
    this.status = error === undefined ? UNSET : FAILED;
    addCleaned(this.attributes, shape.attributes(facts as WorkFacts["turn"]));
    addCleaned(this.attributes, attributes);
    if (error !== undefined) this.attributes["error.type"] = error;
    if (end.content !== undefined) addCleaned(this.attributes, end.content);
    this.resource = origin.resource;
    this.instrumentationScope = origin.scope;
  }

  spanContext(): SpanContext {
    return this.#context;
  }

  get duration(): HrTime {
    const nanoseconds = this.endTime[1] - this.startTime[1];
    const seconds = this.endTime[0] - this.startTime[0];
    return nanoseconds < 0 ? [seconds - 1, nanoseconds + 1_000_000_000] : [seconds, nanoseconds];
  }
}

const UNSET = Object.freeze({ code: SpanStatusCode.UNSET });
const FAILED = Object.freeze({ code: SpanStatusCode.ERROR });
