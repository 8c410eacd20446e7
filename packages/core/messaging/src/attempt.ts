/** One attempt at one message, from its beginning to its end in this process. */
import { type Inbound, postponed, SvcError } from "@svc/contract";
import type { InboxMessage } from "@svc/store";

/** Of deliveries, of messages whose model is down, and of notices. */
export const BACKOFF = { firstMs: 1_000, longestMs: 300_000 };

/** The result of an attempt: the message has ended, or is attempted again after a delay. */
export type Attempted = "over" | { readonly retryDelayMs: number };

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
    return this.message.body as unknown as Inbound;
  }

  callOff(why: CalledOff): void {
    this.calledOff ??= why;
    this.#controller.abort(why === "shutdown" ? postponed() : new SvcError("TURN_CANCELLED"));
  }
}
