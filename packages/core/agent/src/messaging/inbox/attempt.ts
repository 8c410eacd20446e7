/** One attempt at one message, from its beginning to its end in this process. */
import { type Inbound, postponed, SvcError } from "@svc/contract";
import type { InboxMessage } from "@svc/store";
import type { Leave } from "./lane-options.ts";

/** `shutdown`: it goes on in the next process. `stop`: by `/stop`, which has an answer of its own. `drop`: by the operator. */
export type CalledOff = "shutdown" | "stop" | "drop";

export class Attempt {
  readonly message: InboxMessage;
  readonly leave: Leave;
  /** The agent has it. */
  isTurn = false;
  calledOff: CalledOff | undefined;
  readonly #controller = new AbortController();

  constructor(message: InboxMessage, leave: Leave) {
    this.message = message;
    this.leave = leave;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Of a message; a notice has none. */
  get inbound(): Inbound {
    return this.message.body as unknown as Inbound;
  }

  callOff(why: CalledOff): void {
    this.calledOff ??= why;
    this.#controller.abort(why === "shutdown" ? postponed() : new SvcError("TURN_CANCELLED"));
  }
}
