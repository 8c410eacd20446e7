/** Deliveries of several parts of which some have arrived. Of a process that died nothing is known. */
export interface Progress {
  readonly sent: Set<string>;
  /** Of the first part. */
  platformId: string | undefined;
}

/** Who is forgotten is sent anew as a whole, which takes a thousand half deliveries at the same time. */
const MOST = 1000;

export class Unfinished {
  readonly #byDelivery = new Map<string, Progress>();

  take(deliveryId: string): Progress {
    const progress = this.#byDelivery.get(deliveryId);
    this.#byDelivery.delete(deliveryId);
    return progress ?? { sent: new Set(), platformId: undefined };
  }

  put(deliveryId: string, progress: Progress): void {
    if (progress.sent.size === 0) return;
    this.#byDelivery.set(deliveryId, progress);
    const [oldest] = this.#byDelivery.keys();
    if (this.#byDelivery.size > MOST && oldest !== undefined) this.#byDelivery.delete(oldest);
  }
}
