/** The paired devices as the gateway looks them up: by the hash of a token, and by ClientId. */
import type { ClientId, Clock } from "@svc/contract";
import type { Device } from "@svc/store";
import type { GatewayStore } from "../types.ts";
import { tokenHash } from "./bearer.ts";

export class Devices {
  readonly #store: GatewayStore["devices"];
  readonly #clock: Clock;
  readonly #byHash = new Map<string, Device>();
  readonly #byClient = new Map<ClientId, Device>();

  constructor(store: GatewayStore["devices"], clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    for (const device of store.all()) this.#remember(device);
  }

  /**
   * The device a token belongs to. Finding it by hash leaks nothing by its timing: whoever could choose a hash to come
   * close to a stored one would have broken SHA-256.
   */
  find(token: string): Device | undefined {
    const device = this.#byHash.get(tokenHash(token));
    if (device) this.#store.touch(device.id, this.#clock.now());
    return device;
  }

  ofClient(clientId: ClientId): Device | undefined {
    return this.#byClient.get(clientId);
  }

  /** Resolves once the device is on disk, and only then its token works. */
  async add(device: Device): Promise<void> {
    await this.#store.add(device);
    this.#remember(device);
  }

  get size(): number {
    return this.#byHash.size;
  }

  #remember(device: Device): void {
    this.#byHash.set(device.tokenHash, device);
    this.#byClient.set(device.clientId, device);
  }
}
