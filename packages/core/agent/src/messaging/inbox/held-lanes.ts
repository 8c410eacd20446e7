/** Lanes whose channel can't begin anything now, looked at again every second. */
import type { Clock } from "@svc/contract";

export interface HoldOptions {
  readonly clock: Clock;
  readonly canBegin: (channel: string) => boolean;
}

const LOOK_AGAIN_MS = 1_000;

export class HeldLanes<Lane extends { readonly channel: string }> {
  readonly #options: HoldOptions;
  readonly #free: (lanes: readonly Lane[]) => void;
  readonly #held = new Map<string, Lane[]>();
  #cancel: (() => void) | undefined;

  /** `free` is handed those whose channel is back. */
  constructor(options: HoldOptions, free: (lanes: readonly Lane[]) => void) {
    this.#options = options;
    this.#free = free;
  }

  /** Whether it is held now: behind one of its channel that is held already, the channel is not asked again. */
  holds(lane: Lane): boolean {
    const held = this.#held.get(lane.channel);
    if (!held && this.#options.canBegin(lane.channel)) return false;
    if (held) held.push(lane);
    else this.#held.set(lane.channel, [lane]);
    this.#lookLater();
    return true;
  }

  look(): void {
    this.stop();
    for (const [channel, lanes] of this.#held) {
      if (!this.#options.canBegin(channel)) continue;
      this.#held.delete(channel);
      this.#free(lanes);
    }
    if (this.#held.size > 0) this.#lookLater();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #lookLater(): void {
    this.#cancel ??= this.#options.clock.after(LOOK_AGAIN_MS, () => this.look());
  }
}
