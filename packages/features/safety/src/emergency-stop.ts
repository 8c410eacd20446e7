/** Layer 5, the emergency stop: a latch that is stored, so that it outlives a restart, and that only a person releases. */
import { type StateStore, SvcError } from "@svc/contract";

const KEY = "latch";

export interface Latch {
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
}

export class EmergencyStop {
  readonly #state: StateStore;
  #latch: Latch | undefined;
  /** Since the latch was read; writing it may have failed. */
  #isLatchedHere = false;

  constructor(state: StateStore) {
    this.#state = state;
  }

  /** What is on disk, unless it was latched here. Rejects with STORE_*: then nobody knows, and it is latched. */
  async load(): Promise<void> {
    if (this.#isLatchedHere) return;
    try {
      const stored = await this.#state.get(KEY);
      if (!this.#isLatchedHere) this.#latch = stored === undefined ? undefined : latchIn(stored);
    } catch (error) {
      this.#latch ??= { by: "a latch that can't be read", at: new Date(0).toISOString() };
      throw error;
    }
  }

  get latch(): Latch | undefined {
    return this.#latch;
  }

  /** Holds at once, in this process; resolves once it is on disk. Rejects with STORE_*. */
  async engage(latch: Latch): Promise<void> {
    if (this.#latch) return;
    this.#latch = latch;
    this.#isLatchedHere = true;
    await this.#state.set(KEY, JSON.stringify(latch));
  }

  /** Whether it was latched. `isReleased`: of the switch. Rejects with SAFETY_LATCHED, STORE_*; it stays latched then. */
  async reset(isReleased: boolean): Promise<boolean> {
    if (!isReleased) {
      throw new SvcError("SAFETY_LATCHED", "The emergency stop is pressed, or its switch can't be read.", {
        hint: "Release the switch and check its wires, then reset again.",
      });
    }
    if (!this.#latch) return false;
    await this.#state.delete(KEY);
    this.#latch = undefined;
    this.#isLatchedHere = false;
    return true;
  }
}

/** What was stored is a latch, whatever it says. */
function latchIn(text: string): Latch {
  try {
    const { by, at } = JSON.parse(text) as Partial<Latch>;
    if (typeof by === "string" && typeof at === "string") return { by, at };
  } catch {
    // It is none of ours.
  }
  return { by: "an unknown cause", at: new Date(0).toISOString() };
}
