/**
 * What is open for each device: requests that are being answered, streams. Whoever opens one says how it is ended, because
 * a revoked device loses all of it at once.
 */
export class Streams {
  /** By device; a device's set stays, empty or not, until it is revoked. */
  readonly #open = new Map<string, Set<() => void>>();

  /** `close` is called at most once, when the device is revoked. Call the result when the stream has ended by itself. */
  open(deviceId: string, close: () => void): () => void {
    let ends = this.#open.get(deviceId);
    if (ends === undefined) this.#open.set(deviceId, (ends = new Set()));
    // Two streams may share a `close`: each must be forgotten alone.
    const end = () => close();
    ends.add(end);
    const opened = ends;
    return () => void opened.delete(end);
  }

  /** Ends everything that is open for a device. Never throws: one that can't be closed must not save the others. */
  closeAll(deviceId: string): void {
    const ends = this.#open.get(deviceId);
    this.#open.delete(deviceId);
    for (const end of ends ?? []) {
      try {
        end();
      } catch {
        // Its connection is gone already.
      }
    }
  }

  /** How many are open, of one device or of all. */
  count(deviceId?: string): number {
    if (deviceId !== undefined) return this.#open.get(deviceId)?.size ?? 0;
    let sum = 0;
    for (const ends of this.#open.values()) sum += ends.size;
    return sum;
  }
}
