/**
 * Crash quarantine: a message or a delivery that was being worked on in at least two processes that died may be what kills
 * them. Such suspects run one at a time, so that the guilty one dies alone and takes no other with it.
 */
import { MAX_CRASHES, type Store, type WaitingDelivery, type WaitingMessage } from "@svc/store";

type Suspected = Pick<WaitingMessage, "crashes">;

/** One crash may be a power cut. */
const SUSPECT_CRASHES = 2;
const FIRST_DELAY_MS = 2_000;

const isSuspect = ({ crashes = 0 }: Suspected): boolean => crashes >= SUSPECT_CRASHES;

/**
 * How long a suspect waits after a start before it is tried. Without the delay, a service that ends within seconds for another
 * reason would use up all its tries.
 */
export const suspectDelayMs = (crashes = 0): number =>
  crashes < SUSPECT_CRASHES || crashes >= MAX_CRASHES ? 0 : FIRST_DELAY_MS * 2 ** (crashes - SUSPECT_CRASHES);

export class CrashQuarantine<Queue> {
  #running = 0;
  readonly #others: Queue[] = [];

  /** Whether the queue, whose first message this is, has to wait for another suspect; then `end` returns it. */
  holds(queue: Queue, message: Suspected): boolean {
    if (!isSuspect(message) || this.#running === 0) return false;
    this.#others.push(queue);
    return true;
  }

  begin(message: Suspected): void {
    if (isSuspect(message)) this.#running += 1;
  }

  /** The queues that waited for it. */
  end(message: Suspected): Queue[] {
    if (!isSuspect(message)) return [];
    this.#running -= 1;
    // A suspect that waited for an approval may run again beside this one.
    return this.#running === 0 ? this.#others.splice(0) : [];
  }
}

/**
 * The quarantine of deliveries. A delivery that the last process left is noted on disk before it is sent; a note that a start
 * finds has killed a process. Deliveries added later need no note, which would be a commit of its own: if one kills, it is among
 * those that the next start finds.
 */
export class DeliveryQuarantine<Queue> {
  readonly #store: Pick<Store, "outbox" | "write">;
  /** By delivery: how many processes died of it, as far as was noted. */
  readonly #crashes = new Map<number, number>();
  readonly #suspects = new CrashQuarantine<Queue>();

  constructor(store: Pick<Store, "outbox" | "write">) {
    this.#store = store;
  }

  add({ n, crashes }: Pick<WaitingDelivery, "n" | "crashes">): void {
    this.#crashes.set(n, crashes);
  }

  /** Whether the queue, which begins with it, has to wait for another suspect; then `end` returns it. */
  holds(queue: Queue, n: number): boolean {
    return this.#suspects.holds(queue, this.#suspect(n));
  }

  begin(n: number): void {
    this.#suspects.begin(this.#suspect(n));
  }

  isDeadly(n: number): boolean {
    return (this.#crashes.get(n) ?? 0) >= MAX_CRASHES;
  }

  /** Before it is sent, and awaited: what kills at once would never be noted. Rejects with STORE_*. */
  async note(n: number): Promise<void> {
    if (this.#crashes.has(n)) await this.#store.write(() => this.#store.outbox.begin(n));
  }

  /** A shutdown aborted the send, which killed no process. Never rejects. */
  async takeBack(n: number): Promise<void> {
    if (this.#crashes.has(n)) await this.#store.write(() => this.#store.outbox.calledOff(n)).catch(() => undefined);
  }

  /** The queues that waited for it. */
  end(n: number): Queue[] {
    return this.#suspects.end(this.#suspect(n));
  }

  /** The delivery has ended. */
  forget(n: number): void {
    this.#crashes.delete(n);
  }

  readonly #suspect = (n: number): { readonly crashes: number } => ({ crashes: this.#crashes.get(n) ?? 0 });
}
