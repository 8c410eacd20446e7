/**
 * Who may come in to wait. Beyond both bounds the platforms are told to come again: they keep what we can't. The one of a
 * conversation is there so that whoever writes without an end closes his own door, and nobody else's.
 */
import { type Inbound, SvcError } from "@svc/contract";
import type { NewMessage } from "@svc/store";
import { isStopCommand } from "../../turn/stop-command.ts";
import type { InboxLanes } from "./lanes.ts";

const MAX_WAITING = 100_000;
const MAX_IN_LANE = 1_000;
const LANE_AGAIN_MS = 30_000;

export class Admission {
  /** What was let in before, and is on disk. */
  readonly #lanes: readonly Pick<InboxLanes, "size" | "sizeOf">[];
  readonly #isReply: (inbound: Inbound) => boolean;
  /** On their way to the disk. */
  #arriving = 0;
  readonly #arrivingIn = new Map<string, number>();

  constructor(lanes: readonly Pick<InboxLanes, "size" | "sizeOf">[], isReply: (inbound: Inbound) => boolean) {
    this.#lanes = lanes;
    this.#isReply = isReply;
  }

  /**
   * All of it, or BUSY: whoever is told to come again brings all of it again. A lane that has room takes what comes at
   * once, however much it is, or else it would never be taken.
   */
  enter(messages: readonly NewMessage[]): void {
    let waiting = this.#arriving + messages.length;
    for (const { size } of this.#lanes) waiting += size;
    if (waiting > MAX_WAITING) {
      throw new SvcError("BUSY", "Too many messages are waiting; try again shortly.", { retryAfterMs: 1_000 });
    }
    for (const message of messages) {
      if (!this.#isFull(message.lane) || this.#isExempt(message)) continue;
      const words = "Too many messages are waiting in this conversation; try again later.";
      throw new SvcError("BUSY", words, { retryAfterMs: LANE_AGAIN_MS });
    }
    this.#arriving += messages.length;
    for (const { lane } of messages) this.#arrivingIn.set(lane, (this.#arrivingIn.get(lane) ?? 0) + 1);
  }

  /** They wait now, or were not kept. */
  leave(messages: readonly NewMessage[]): void {
    this.#arriving -= messages.length;
    for (const { lane } of messages) {
      const left = this.#arrivingIn.get(lane)! - 1;
      if (left > 0) this.#arrivingIn.set(lane, left);
      else this.#arrivingIn.delete(lane);
    }
  }

  #isFull(lane: string): boolean {
    let waiting = this.#arrivingIn.get(lane) ?? 0;
    for (const lanes of this.#lanes) waiting += lanes.sizeOf(lane);
    return waiting >= MAX_IN_LANE;
  }

  /** What does not wait in the lane; above all what empties it, and what the turn waits for that fills it. */
  #isExempt({ kind, body }: NewMessage): boolean {
    const inbound = body as unknown as Inbound;
    if (kind === "reaction" || kind === "locked") return true;
    return kind === "message" && (isStopCommand(inbound.text) || this.#isReply(inbound));
  }
}
