/** The last calls of tools that reached a board, with how they ended: for people who watch. In memory; the audit log has what was approved. */
import { type Clock, SvcError } from "@svc/contract";

export interface BoardCall {
  readonly n: number;
  /** Alias. */
  readonly device: string;
  readonly tool: string;
  /** The effect, e.g. `GPIO 13 HIGH`. */
  readonly call: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly state: "running" | "done" | "failed";
  /** Why it failed. */
  readonly code: string | undefined;
}

const MOST_KEPT = 50;

export class CallLog {
  readonly #clock: Clock;
  readonly #calls = new Map<number, BoardCall>();
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves and rejects as `work` does. */
  async run<T>(what: Pick<BoardCall, "device" | "tool" | "call">, work: () => Promise<T>): Promise<T> {
    const call = { ...what, n: (this.#count += 1), at: this.#clock.now() };
    this.#keep({ ...call, state: "running", code: undefined });
    try {
      const result = await work();
      this.#keep({ ...call, state: "done", code: undefined });
      return result;
    } catch (error) {
      this.#keep({ ...call, state: "failed", code: error instanceof SvcError ? error.code : "INTERNAL" });
      throw error;
    }
  }

  /** The newest first. */
  list(): readonly BoardCall[] {
    return [...this.#calls.values()].toSorted((a, b) => b.n - a.n);
  }

  #keep(call: BoardCall): void {
    // One that was dropped while it ran stays dropped.
    if (call.state !== "running" && !this.#calls.has(call.n)) return;
    this.#calls.set(call.n, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MOST_KEPT && oldest !== undefined) this.#calls.delete(oldest);
  }
}
