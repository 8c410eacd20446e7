/**
 * What does not wait in its conversation behind others: `/stop`, which is about them, and an answer to a question of ours, which
 * the turn before it may be waiting for.
 */
import type { Inbound } from "@svc/contract";
import { inScope } from "@svc/kernel";
import type { WaitingMessage } from "@svc/store";
import { isStopCommand } from "../../turn/stop-command.ts";
import { incomingId } from "../message-id.ts";
import type { InboxParts } from "./parts.ts";
import { type Around, stopConversation } from "./stop-conversation.ts";
import { isReply, takeReply } from "./take-reply.ts";
import { untilKept } from "./until-kept.ts";
import { scopeOf } from "./waits.ts";

export class Overtaking {
  readonly #parts: InboxParts;
  readonly #around: Around;
  readonly #background: (work: () => Promise<void>) => void;

  constructor(parts: InboxParts, around: Around, background: (work: () => Promise<void>) => void) {
    this.#parts = parts;
    this.#around = around;
    this.#background = background;
  }

  /** Of one that has come, and is on disk. */
  arrived(waiting: WaitingMessage, inbound: Inbound): void {
    if (isStopCommand(inbound.text)) return this.#stop(waiting.n);
    this.#around.lanes.add(waiting);
    const { replies, clock } = this.#parts;
    if (replies?.takes(inbound, clock.now())) this.#take(waiting);
  }

  /** Those that the last process had no time for. */
  async find(): Promise<void> {
    const { store, stopping } = this.#parts;
    const { lanes } = this.#around;
    for (const [looked, waiting] of lanes.all().entries()) {
      // A hundred thousand may wait, and others want to be served.
      if (looked % 100 === 99) await new Promise(setImmediate);
      if (stopping.aborted) return;
      const { n, lane } = waiting;
      const message = store.inbox.read(n);
      if (message?.kind !== "message") continue;
      const within = (work: () => void): void => inScope(scopeOf(message), work);
      if (isReply(this.#parts, message)) within(() => this.#take(waiting));
      else if (isStopCommand((message.body as unknown as Inbound).text)) {
        if (lanes.take(lane, (other) => other.n === n).length > 0) within(() => this.#stop(n));
      }
    }
  }

  #stop(n: number): void {
    this.#background(() => stopConversation(this.#parts, this.#around, n));
  }

  /** It keeps its place in the lane meanwhile: what settles nothing is answered in its order. */
  #take({ n, lane }: WaitingMessage): void {
    const { lanes, attempts } = this.#around;
    const take = () => takeReply(this.#parts, n, () => !attempts.has(n));
    this.#background(async () => {
      const isOver = await untilKept(this.#parts, incomingId(n), this.#parts.stopping, take);
      if (isOver) lanes.take(lane, (other) => other.n === n);
    });
  }
}
