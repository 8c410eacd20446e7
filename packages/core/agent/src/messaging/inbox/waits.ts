/**
 * How long messages wait, as observers see it: from the commit that kept them to the beginning of their turns. An attempt that
 * fails before that does not end it, and one after that begins no other.
 */
import type { ErrorCode } from "@svc/contract";
import type { Instruments, OpenWork, Scope } from "@svc/kernel";
import type { InboxMessage } from "@svc/store";

export class Waits {
  readonly #instruments: Instruments;
  /** By message: of those that are not over. */
  readonly #waits = new Map<number, OpenWork<"inbox">>();

  constructor(instruments: Instruments) {
    this.#instruments = instruments;
  }

  /** An attempt at a message begins. What it works for: the turn, and the wait that the turn comes of. */
  begin(message: InboxMessage): Scope {
    const traceparent = this.#waitOf(message)?.traceparent;
    return traceparent === undefined ? scopeOf(message) : { turn: message.turnId, traceparent };
  }

  /** Its turn has begun. */
  end(n: number): void {
    this.#waits.get(n)?.end({ error: undefined });
  }

  /** It is over. `error`: why it got no turn, if it had none. */
  over(n: number, error: ErrorCode | undefined): void {
    this.#waits.get(n)?.end({ error });
    this.#waits.delete(n);
  }

  /** The next process goes on with all of them. */
  stop(): void {
    for (const n of this.#waits.keys()) this.over(n, "TURN_CANCELLED");
  }

  /** undefined: nobody looks, or it was told before this process. */
  #waitOf({ n, channel, traceparent, waitTraceparent, receivedAtMs, attempts }: InboxMessage): OpenWork | undefined {
    const known = this.#waits.get(n);
    if (known || waitTraceparent !== undefined || attempts > 0 || !this.#instruments.isWatched) return known;
    const facts = { channel, messageId: `in-${n}` };
    const wait = this.#instruments.begin("inbox", facts, { parent: traceparent, startedAtMs: receivedAtMs });
    this.#waits.set(n, wait);
    return wait;
  }
}

/** What is done for a message works for this. */
export const scopeOf = ({ kind, turnId, traceparent, waitTraceparent }: InboxMessage): Scope => ({
  turn: kind === "message" ? turnId : undefined,
  traceparent: waitTraceparent ?? traceparent,
});
