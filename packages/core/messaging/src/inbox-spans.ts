/**
 * The spans of messages that wait: from the commit that stored them to the beginning of their turns. An attempt that fails
 * before that does not end the span, and a later one begins no other.
 */
import type { ErrorCode } from "@svc/contract";
import type { Tracer, OpenSpan, Scope } from "@svc/runtime";
import type { InboxMessage } from "@svc/store";
import { incomingId } from "./message-id.ts";

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
