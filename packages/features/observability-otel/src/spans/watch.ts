/** A piece of work that is recorded, until it ends. */
import type { Attributes, SpanContext } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Json, WorkKind, WorkResults, WorkWatch } from "@svc/contract";
import { EndedSpan, type Origin, type RecordedWork } from "./span.ts";

/** Where spans come from, and where they go to. */
export interface SpanMaker {
  readonly origin: Origin;
  readonly add: (span: ReadableSpan) => void;
}

export class SpanWatch<Kind extends WorkKind> implements WorkWatch<Kind> {
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
export class RequestWatch extends SpanWatch<"request"> {
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
export const readTraceparent = (text: string): SpanContext => ({
  traceId: text.slice(3, 35),
  spanId: text.slice(36, 52),
  traceFlags: isSampled(text) ? 1 : 0,
});

export const writeTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & 1}`;

/** The lowest bit of the flags, the last character's: `01`, and `03` of later levels. */
export const isSampled = (text: string): boolean => "13579bdf".includes(text.at(-1) as string);

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
