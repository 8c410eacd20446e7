/**
 * What is open for each device: requests that are being answered, streams. Whoever opens one says how it is ended, because
 * a revoked device loses all of it at once.
 */
import { LinkedList } from "@svc/kernel";
import type { Device } from "@svc/store";

export class Streams {
  /** By device; a device's list stays, empty or not, until it is revoked. */
  readonly #open = new Map<string, LinkedList<() => void>>();
  readonly #revoked = new Set<string>();

  /**
   * `close` is called at most once: when the device is revoked, or at once when it has been. Call the result when the
   * stream has ended by itself.
   */
  open({ id }: Pick<Device, "id">, close: () => void): () => void {
    if (this.#revoked.has(id)) {
      close();
      return () => {};
    }
    let ends = this.#open.get(id);
    if (ends === undefined) this.#open.set(id, (ends = new LinkedList()));
    const opened = ends;
    const link = opened.add(close);
    return () => void opened.delete(link);
  }

  /** Ends everything that is open for a device. Never throws: one that can't be closed must not save the others. */
  closeAll(deviceId: string): void {
    this.#revoked.add(deviceId);
    const ends = this.#open.get(deviceId);
    this.#open.delete(deviceId);
    for (const end of ends?.items() ?? []) {
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
