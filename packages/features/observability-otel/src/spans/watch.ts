/** A piece of work that is recorded, until it ends. */
import type { Attributes } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Json, WorkKind, WorkResults, WorkWatch } from "@svc/contract";
import { contentOf } from "./content.ts";
import { EndedSpan, type Origin, type RecordedWork } from "./span.ts";
import { writeTraceparent } from "./traceparent.ts";

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
