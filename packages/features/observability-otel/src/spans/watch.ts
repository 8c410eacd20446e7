/** A piece of work that is recorded, until it ends. */
import { type Span, SpanStatusCode } from "@opentelemetry/api";
import type { Json, WorkKind, WorkResults, WorkWatch } from "@svc/contract";
import { cleaned } from "./clean.ts";
import { contentOf } from "./content.ts";
import { SHAPES } from "./shapes.ts";
import { hrTimeOf } from "./time.ts";

export interface SpanWatchOptions<Kind extends WorkKind> {
  readonly kind: Kind;
  readonly span: Span;
  readonly traceparent: string;
  readonly recordsContent: boolean;
}

export class SpanWatch<Kind extends WorkKind> implements WorkWatch<Kind> {
  readonly traceparent: string;
  /** Not there where the operator did not ask for it: core then does not even make the text. */
  readonly content?: (direction: "input" | "output", said: Json) => void;
  readonly #kind: Kind;
  readonly #span: Span;

  constructor({ kind, span, traceparent, recordsContent }: SpanWatchOptions<Kind>) {
    this.#kind = kind;
    this.#span = span;
    this.traceparent = traceparent;
    if (recordsContent)
      this.content = (direction, said) => void span.setAttributes(cleaned(contentOf(kind, direction, said)));
  }

  end(result: WorkResults[Kind], endedAtMs: number): void {
    endSpan(this.#span, this.#kind, result, endedAtMs);
  }
}

/**
 * A request is told when it was served, or when something was begun for it. Neither is a stranger's to choose: one that is
 * refused, or gives up before anything was done, leaves nothing, so that nobody outside can fill the collector.
 */
export class RequestWatch implements WorkWatch<"request"> {
  readonly traceparent: string;
  readonly #span: Span;
  readonly #onEnd: () => void;
  #hasParts = false;

  constructor({ span, traceparent, onEnd }: { span: Span; traceparent: string; onEnd: () => void }) {
    this.traceparent = traceparent;
    this.#span = span;
    this.#onEnd = onEnd;
  }

  /** Something is part of it, whose trace would have a hole without it. */
  hasParts(): void {
    this.#hasParts = true;
  }

  end(result: WorkResults["request"], endedAtMs: number): void {
    this.#onEnd();
    // The library is told of the end of a span, and of nothing else that it would have to forget.
    if (this.#hasParts || isServed(result.status)) endSpan(this.#span, "request", result, endedAtMs);
  }
}

/** 503 is a refusal too ("not now"), which strangers meet where a channel is out of service. */
const isServed = (status: number | undefined): boolean =>
  status !== undefined && (status < 400 || (status >= 500 && status !== 503));

function endSpan<Kind extends WorkKind>(span: Span, kind: Kind, result: WorkResults[Kind], endedAtMs: number): void {
  const { attributes, error } = SHAPES[kind].outcome(result);
  span.setAttributes(cleaned(attributes));
  if (error !== undefined) span.setAttribute("error.type", error).setStatus({ code: SpanStatusCode.ERROR });
  span.end(hrTimeOf(endedAtMs));
}
