/**
 * Spans on their way to the collector: a bounded queue that is sent off in batches, one after the other, and never by the code that
 * ends a span. A collector that fails is left alone for longer and longer, and as long as it asks for; what does not fit
 * into the queue meanwhile is dropped and counted.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Clock, Logger } from "@svc/contract";
import { retryDelayMs, withTimeout } from "@svc/kit/async";
import { type Collector, EXPORT_MS, type Outcome, type Reason } from "./collector.ts";

export interface SpanQueueOptions {
  readonly collector: Collector;
  readonly log: Logger;
  readonly clock: Clock;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random?: () => number;
}

/** Characters are those that spans tell, of two bytes at most: 32 MB. */
export const QUEUE = { spans: 2_048, characters: 16_777_216 } as const;
/** Of one request: it is written in one go, which must not keep the event loop, and collectors take only so much. */
export const BATCH = { spans: 256, characters: 1_048_576 } as const;
/** How long a span waits for others. */
const DELAY_MS = 1_000;
const BACKOFF = { firstMs: 2_000, longestMs: 60_000 } as const;
/** A batch that fails so often may be what it fails by. */
const MOST_TRIES = 5;
/** A service that stops does not wait any longer for a collector that failed last time. */
const HOPELESS_MS = 1_000;

interface Queued {
  readonly span: ReadableSpan;
  readonly characters: number;
}

export class SpanQueue {
  readonly #collector: Collector;
  readonly #clock: Clock;
  readonly #random: (() => number) | undefined;
  readonly #trouble: Trouble;
  /** What is done here is nobody's work: its lines in the log must not be told as those of the turn whose span came last. */
  readonly #asNobody = AsyncLocalStorage.snapshot();
  readonly #queue: Queued[] = [];
  #characters = 0;
  /** In a row. */
  #failures = 0;
  /** Of the batch that is next. */
  #tries = 0;
  /** Nothing is sent before; monotonic. */
  #notBeforeMs = 0;
  #sending: Promise<void> | undefined;
  #timer: { readonly isSoon: boolean; readonly cancel: () => void } | undefined;
  #closing: Promise<void> | undefined;
  #isClosed = false;

  constructor({ collector, log, clock, random }: SpanQueueOptions) {
    this.#random = random;
    this.#collector = collector;
    this.#clock = clock;
    this.#trouble = new Trouble(log, clock);
  }

  add(span: ReadableSpan): void {
    if (this.#closing !== undefined) return;
    const characters = charactersIn(span);
    if (this.#queue.length >= QUEUE.spans || this.#characters + characters > QUEUE.characters) {
      this.#asNobody(() => this.#trouble.dropped(1, "the queue is full"));
      return;
    }
    this.#queue.push({ span, characters });
    this.#characters += characters;
    this.#schedule();
  }

  /** Sends until nothing is queued, or something fails. */
  async flush(): Promise<void> {
    await this.#sending;
    while (this.#queue.length > 0 && this.#failures === 0) await this.#send();
  }

  /** Sends what it can within EXPORT_MS, and drops the rest. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#timer?.cancel();
    const timeoutMs = this.#failures === 0 ? EXPORT_MS : HOPELESS_MS;
    const error = (): Error => new Error("the collector did not take the last spans in time");
    await withTimeout({ clock: this.#clock, timeoutMs, error }, () => this.#sendLast()).catch(() => undefined);
    this.#isClosed = true;
    this.#collector.close();
    if (this.#queue.length > 0) this.#trouble.dropped(this.#queue.length, "the service stops");
    this.#remove(this.#queue.length);
    this.#trouble.close();
  }

  async #sendLast(): Promise<void> {
    const hasFailed = this.#failures > 0;
    await this.#sending;
    if (!hasFailed) return this.flush();
    if (this.#clock.monotonic() < this.#notBeforeMs) return;
    this.#failures = 0;
    return this.flush();
  }

  /** Soon when a batch is full, else DELAY_MS after its first span; never at once, so that the code that ends a span does not wait. */
  #schedule(): void {
    if (this.#sending !== undefined || this.#closing !== undefined || this.#queue.length === 0) return;
    const isSoon = this.#queue.length >= BATCH.spans || this.#characters >= BATCH.characters;
    if (this.#timer !== undefined && (this.#timer.isSoon || !isSoon)) return;
    this.#timer?.cancel();
    const backoffMs = this.#notBeforeMs - this.#clock.monotonic();
    const send = (): void => {
      this.#timer = undefined;
      void this.#send();
    };
    const delayMs = Math.max(isSoon ? 0 : DELAY_MS, backoffMs);
    this.#timer = { isSoon, cancel: this.#asNobody(() => this.#clock.after(delayMs, send)) };
  }

  #send(): Promise<void> {
    const batch = this.#nextBatch();
    this.#sending = this.#collector.send(batch).then((outcome) => {
      this.#sending = undefined;
      if (this.#isClosed) return;
      this.#settle(outcome, batch.length);
      this.#schedule();
    });
    return this.#sending;
  }

  /** At least one. It stays in the queue until it is settled. */
  #nextBatch(): ReadableSpan[] {
    let sum = 0;
    const end = this.#queue.findIndex(({ characters }, index) => {
      sum += characters;
      return index >= BATCH.spans || (index > 0 && sum > BATCH.characters);
    });
    return this.#queue.slice(0, end === -1 ? undefined : end).map(({ span }) => span);
  }

  #settle(outcome: Outcome, count: number): void {
    if (outcome.kind === "taken") {
      this.#remove(count);
      this.#failures = 0;
      if (outcome.rejected > 0) this.#trouble.dropped(outcome.rejected, "the collector rejects them");
      else this.#trouble.over();
      return;
    }
    this.#tries += 1;
    const isGivenUp = outcome.kind === "refused" || this.#tries >= MOST_TRIES;
    if (isGivenUp) this.#remove(count);
    this.#backOff(outcome.kind === "failed" ? outcome.retryAfterMs : undefined);
    this.#trouble.dropped(isGivenUp ? count : 0, outcome.reason);
  }

  #backOff(askedMs?: number): void {
    this.#failures += 1;
    const random = this.#random;
    this.#notBeforeMs =
      this.#clock.monotonic() + retryDelayMs(this.#failures, BACKOFF, { askedMs, ...(random && { random }) });
  }

  #remove(count: number): void {
    for (const { characters } of this.#queue.splice(0, count)) this.#characters -= characters;
    this.#tries = 0;
  }
}

/** What a span has beside its texts counts as this many. */
const FRAME = 256;

function charactersIn({ attributes }: ReadableSpan): number {
  let characters = FRAME;
  for (const key in attributes) {
    const value = attributes[key];
    if (typeof value === "string") characters += value.length;
  }
  return characters;
}

/** What the log says of a collector that fails: the first time at once, then a line a minute at most. */
const MINUTE_MS = 60_000;

class Trouble {
  readonly #log: Logger;
  readonly #clock: Clock;
  /** Since the last line. */
  #dropped = 0;
  #reason: Reason = "";
  /** Monotonic. */
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;
  /** Its end is to be told too. */
  #isTold = false;

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** `spans`: 0 when they are kept and tried again. */
  dropped(spans: number, reason: Reason): void {
    this.#dropped += spans;
    this.#reason = reason;
    const waitMs = this.#quietUntilMs - this.#clock.monotonic();
    if (waitMs <= 0) this.#tell();
    else this.#cancel ??= this.#clock.after(waitMs, () => this.#tell());
  }

  /** The collector takes spans. */
  over(): void {
    if (this.#dropped === 0) this.#forget();
    if (!this.#isTold) return;
    this.#isTold = false;
    this.#log.info("the trace collector takes spans again");
  }

  /** Says what was not said yet. */
  close(): void {
    if (this.#cancel !== undefined && this.#dropped > 0) this.#tell();
    this.#forget();
  }

  #forget(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #tell(): void {
    this.#forget();
    this.#log.warn("the trace collector does not take all spans", { reason: this.#reason, dropped: this.#dropped });
    this.#dropped = 0;
    this.#quietUntilMs = this.#clock.monotonic() + MINUTE_MS;
    this.#isTold = true;
  }
}
