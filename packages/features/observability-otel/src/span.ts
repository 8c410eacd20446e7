/**
 * A span, made once, when its work has ended. The library's own can change until then, and is made by a tracer with contexts
 * and hooks: where nobody uses those it costs three times as much.
 */
import { type Attributes, type HrTime, type SpanContext, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { WorkFacts, WorkKind, WorkResults } from "@svc/contract";

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
    // The types of `begin` and `end` guarantee that the facts and the result are of this kind.
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

/** Seconds and nanoseconds: a plain number would be taken as the time since the process began, where it is small. */
function hrTimeOf(epochMs: number): HrTime {
  const seconds = Math.floor(epochMs / 1000);
  const nanoseconds = Math.round((epochMs - seconds * 1000) * 1_000_000);
  return nanoseconds < 1_000_000_000 ? [seconds, nanoseconds] : [seconds + 1, 0];
}

// What a collector can read. One value that it can't makes it refuse a whole request, with the spans of everybody else in it, and some
// values come from outside: the id of a tool call is the model's.

/** UTF-16 code units of one text; longer ones are cut. */
const LONGEST_TEXT = 16_384;

/** Adds texts, cut and well formed, and numbers that fit; whatever else is left out. */
function addCleaned(attributes: Attributes, added: Attributes): void {
  for (const key in added) {
    const value = added[key];
    if (typeof value === "string") attributes[key] = cleanText(value);
    else if (typeof value === "number" && isTold(value)) attributes[key] = value;
  }
}

/** Half a character, from the cut or from the sender, becomes U+FFFD. */
const cleanText = (text: string): string =>
  (text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text).toWellFormed();

/** Whole numbers are written as 64 bits. */
const isTold = (value: number): boolean =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));

/**
 * What a piece of work is called as a span, and what is told of it, by OpenTelemetry's semantic conventions: HTTP  
 * https://opentelemetry.io/docs/specs/semconv/http/http-spans/ messaging
 * https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/ GenAI  
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-agent-spans/, gen-ai-spans/ commands  
 * https://opentelemetry.io/docs/specs/semconv/registry/attributes/process/ The names are written out: most of these conventions are not
 * stable, and constants that the library renames would rename what an operator searches for. A test compares them with the library's. What
 * they have no name for begins with `svc.`.
 */
interface SpanShape<Kind extends WorkKind> {
  readonly kind: SpanKind;
  /** From bounded sets. */
  name(facts: WorkFacts[Kind]): string;
  attributes(facts: WorkFacts[Kind]): Attributes;
  outcome(result: WorkResults[Kind]): SpanOutcome;
}

interface SpanOutcome {
  readonly attributes: Attributes;
  /** `error.type`; undefined: it went well. A code, never a message. */
  readonly error: string | undefined;
}

export const SHAPES: { readonly [Kind in WorkKind]: SpanShape<Kind> } = {
  request: {
    kind: SpanKind.SERVER,
    name: ({ method, route }) => `${method} ${route}`,
    attributes: ({ method, route }) => ({ "http.request.method": method, "http.route": route }),
    outcome: ({ status }) =>
      status === undefined
        ? { attributes: { "error.type": "client_gone" }, error: undefined }
        : {
            attributes: { "http.response.status_code": status },
            // That a client asked for what there is not is no error of a server's.
            error: status >= 500 ? String(status) : undefined,
          },
  },
  inbox: {
    kind: SpanKind.CONSUMER,
    name: ({ channel }) => `receive ${channel}`,
    attributes: ({ channel, messageId }) => messaging("receive", channel, messageId),
    outcome: ({ error }) => ({ attributes: {}, error }),
  },
  turn: {
    kind: SpanKind.INTERNAL,
    name: ({ agent }) => `invoke_agent ${agent}`,
    attributes: ({ agent, sessionId, turnId, model, channel }) => ({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": agent,
      "gen_ai.conversation.id": sessionId,
      "gen_ai.request.model": model,
      "svc.turn.id": turnId,
      "svc.channel": channel,
    }),
    outcome: usage,
  },
  "model-call": {
    kind: SpanKind.CLIENT,
    name: ({ model }) => `chat ${model}`,
    attributes: ({ provider, model, agent, step }) => ({
      "gen_ai.operation.name": "chat",
      // The well-known values are those of `[model] provider`; what is only compatible with one of them says so.
      "gen_ai.provider.name": provider,
      "gen_ai.request.model": model,
      "gen_ai.agent.name": agent,
      "svc.turn.step": step,
    }),
    outcome: usage,
  },
  "tool-call": {
    kind: SpanKind.INTERNAL,
    name: ({ tool }) => `execute_tool ${tool}`,
    attributes: ({ tool, callId }) => ({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": callId,
    }),
    outcome: ({ error }) => ({ attributes: {}, error }),
  },
  command: {
    kind: SpanKind.INTERNAL,
    name: ({ backend }) => `command ${backend}`,
    attributes: ({ backend }) => ({ "svc.sandbox.backend": backend }),
    outcome: ({ outcome, exitCode }) => ({
      attributes: { "svc.command.outcome": outcome, "process.exit.code": exitCode },
      // A command that says no by its exit code was run all right.
      error: outcome === "exited" ? undefined : outcome,
    }),
  },
  delivery: {
    kind: SpanKind.PRODUCER,
    name: ({ channel }) => `send ${channel}`,
    attributes: ({ channel, messageId, attempt }) => ({
      ...messaging("send", channel, messageId),
      "svc.delivery.attempt": attempt,
    }),
    outcome: ({ error }) => ({ attributes: {}, error }),
  },
};

const messaging = (operation: "receive" | "send", channel: string, messageId: string): Attributes => ({
  // Of the name that most tools know, and of that which took its place.
  "messaging.system": channel,
  "messaging.system.name": channel,
  "messaging.operation.name": operation,
  "messaging.operation.type": operation,
  "messaging.destination.name": channel,
  "messaging.message.id": messageId,
});

function usage({ inputTokens, outputTokens, costUsd, error }: WorkResults["turn"]): SpanOutcome {
  return {
    attributes: {
      "gen_ai.usage.input_tokens": inputTokens,
      "gen_ai.usage.output_tokens": outputTokens,
      "svc.cost_usd": costUsd,
    },
    error,
  };
}
