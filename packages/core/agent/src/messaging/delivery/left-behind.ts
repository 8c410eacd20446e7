/**
 * Deliveries that the last process left. One of them may be what it died of, and would kill every process after it. So each of
 * them is noted before it is sent, and what is noted at the next start has killed this one. What was added since needs no note,
 * which would be a commit of its own: when it kills, it is among those that are left.
 */
import { MAX_CRASHES, type Store, type WaitingDelivery } from "@svc/store";
import { Suspects } from "../suspects.ts";

export class LeftBehind<Lane> {
  readonly #store: Pick<Store, "outbox" | "write">;
  /** By delivery: how many processes died of it, as far as was noted. */
  readonly #crashes = new Map<number, number>();
  readonly #suspects = new Suspects<Lane>();

  constructor(store: Pick<Store, "outbox" | "write">) {
    this.#store = store;
  }

  add({ n, crashes }: Pick<WaitingDelivery, "n" | "crashes">): void {
    this.#crashes.set(n, crashes);
  }

  /** Whether the lane, which begins with it, has to wait for another suspect; then `end` hands it back. */
  holds(lane: Lane, n: number): boolean {
    return this.#suspects.holds(lane, this.#suspect(n));
  }

  begin(n: number): void {
    this.#suspects.begin(this.#suspect(n));
  }

  isDeadly(n: number): boolean {
    return (this.#crashes.get(n) ?? 0) >= MAX_CRASHES;
  }

  /** Before it is sent. Waited for: what kills at once would never be noted. Rejects with STORE_*. */
  async note(n: number): Promise<void> {
    if (this.#crashes.has(n)) await this.#store.write(() => this.#store.outbox.begin(n));
  }

  /** The sending was called off by a stop, and has killed nobody. Never rejects. */
  async takeBack(n: number): Promise<void> {
    if (this.#crashes.has(n)) await this.#store.write(() => this.#store.outbox.calledOff(n)).catch(() => undefined);
  }

  /** Those that waited for it. */
  end(n: number): Lane[] {
    return this.#suspects.end(this.#suspect(n));
  }

  /** It is over. */
  forget(n: number): void {
    this.#crashes.delete(n);
  }

  readonly #suspect = (n: number): { readonly crashes: number } => ({ crashes: this.#crashes.get(n) ?? 0 });
}
