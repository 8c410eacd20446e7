/** One attempt at one message in this process, the span of its wait before that, and what people call the message. */
import { type ErrorCode, type Inbound, SvcError, postponed } from "@svc/contract";
import type { Run } from "@svc/agent";
import type { InboxMessage } from "@svc/store";
import type { OpenSpan, Scope, Tracer } from "@svc/runtime";
import { jsonAs } from "@svc/kit";

/** Of deliveries, of messages whose model is down, and of notices. */
export const BACKOFF = { firstMs: 1_000, longestMs: 300_000 };

/**
 * The right of a message to run beside those of other conversations. A message that only waits releases it and reacquires it
 * afterwards, which may for a moment be more than the limit; turns have a limit of their own.
 */
export interface Permit {
  /** For waiting on a server, of files or of speech: one that hangs would else hold up every channel. */
  readonly whileReleased: WhileReleased;
  /** For waiting for an approval. Unlimited: a few questions without an answer would else stop everything. */
  readonly whileAsking: WhileReleased;
}

export type WhileReleased = <T>(work: () => Promise<T>) => Promise<T>;

/** Messages of one channel without a permit at the same time; each has a connection and a file open. */
const MAX_RELEASED = 64;

export class Permits {
  /** By channel: messages that have released theirs. */
  readonly #released = new Map<string, number>();

  of(run: Run, channel: string): Permit {
    return {
      whileReleased: (work) => this.#whileReleased(run, channel, work),
      whileAsking: (work) => run.asleep(work),
    };
  }

  async #whileReleased<T>(run: Run, channel: string, work: () => Promise<T>): Promise<T> {
    const others = this.#released.get(channel) ?? 0;
    // The message keeps its permit.
    if (others >= MAX_RELEASED) return work();
    this.#released.set(channel, others + 1);
    try {
      return await run.withoutPermit(work);
    } finally {
      this.#released.set(channel, this.#released.get(channel)! - 1);
    }
  }
}

/** `shutdown`: it goes on in the next process. `stop`: by `/stop`, which has an answer of its own. `drop`: by the operator. */
export type CalledOff = "shutdown" | "stop" | "drop";

export class Attempt {
  readonly message: InboxMessage;
  readonly permit: Permit;
  /** The agent has it. */
  isTurn = false;
  calledOff: CalledOff | undefined;
  readonly #controller = new AbortController();

  constructor(message: InboxMessage, permit: Permit) {
    this.message = message;
    this.permit = permit;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Only of a message: the body of a notice is the channel's own. */
  get inbound(): Inbound {
    return jsonAs<Inbound>(this.message.body);
  }

  callOff(why: CalledOff): void {
    this.calledOff ??= why;
    this.#controller.abort(why === "shutdown" ? postponed() : new SvcError("TURN_CANCELLED"));
  }
}

/**
 * The spans of messages that wait: from the commit that stored them to the beginning of their turns. An attempt that fails before that does
 * not end the span, and a later one begins no other.
 */
export class InboxSpans {
  readonly #tracer: Tracer;
  /** By message: of those that have not ended. */
  readonly #spans = new Map<number, OpenSpan<"inbox">>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** An attempt at a message begins. Its scope: the turn, and the span that is the parent of the turn. */
  begin(message: InboxMessage): Scope {
    const traceparent = this.#spanOf(message)?.traceparent;
    return traceparent === undefined ? scopeOf(message) : { turn: message.turnId, traceparent };
  }

  /** Its turn has begun. */
  end(n: number): void {
    this.#spans.get(n)?.end({ error: undefined });
  }

  /** The message has ended. `error`: why it got no turn, if it had none. */
  over(n: number, error: ErrorCode | undefined): void {
    this.#spans.get(n)?.end({ error });
    this.#spans.delete(n);
  }

  /** The next process goes on with all of them. */
  stop(): void {
    for (const n of this.#spans.keys()) this.over(n, "TURN_CANCELLED");
  }

  /** Undefined: there are no observers, or an earlier process began the span. */
  #spanOf({ n, channel, traceparent, waitTraceparent, receivedAtMs, attempts }: InboxMessage): OpenSpan | undefined {
    const known = this.#spans.get(n);
    if (known || waitTraceparent !== undefined || attempts > 0 || !this.#tracer.isWatched) return known;
    const facts = { channel, messageId: incomingId(n) };
    const span = this.#tracer.begin("inbox", facts, { parent: traceparent, startedAtMs: receivedAtMs });
    this.#spans.set(n, span);
    return span;
  }
}

/** The scope of everything that is done for a message. */
export const scopeOf = ({ kind, turnId, traceparent, waitTraceparent }: InboxMessage): Scope => ({
  turn: kind === "message" ? turnId : undefined,
  traceparent: waitTraceparent ?? traceparent,
});

/** What people call a message that came in. */
export const incomingId = (n: number): string => `in-${n}`;
