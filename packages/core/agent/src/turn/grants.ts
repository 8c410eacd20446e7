/** What a person has said yes to before the turn: each of these tools may run once in it without being asked about. */
import type { JournalledCall } from "@svc/store";

export class Grants {
  readonly #left: Set<string>;
  /** Of the turn's earlier attempts. */
  readonly #earlier: readonly JournalledCall[];

  constructor(tools: readonly string[], earlier: readonly JournalledCall[]) {
    this.#left = new Set(tools);
    this.#earlier = earlier;
  }

  /**
   * Tells whether this call may use one, which is spent then. An earlier attempt may have spent it: any call of the tool that
   * acted counts, since nobody noted why it was allowed.
   */
  take(tool: string, callId: string): boolean {
    const isSpent = this.#earlier.some((call) => call.tool === tool && call.acting && call.callId !== callId);
    return !isSpent && this.#left.delete(tool);
  }
}
