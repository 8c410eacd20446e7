/** The paired devices, looked up by the hash of a token and by ClientId, and the tokens themselves. */
import { hash, randomBytes } from "node:crypto";
import { DeviceName } from "@svc/api";
import { type ClientId, type Clock, type Logger, SvcError } from "@svc/contract";
import type { Device } from "@svc/store";
import * as v from "valibot";

export interface DeviceStore {
  all(): readonly Device[];
  /** Resolves when the device is durable; rejects when it could not be written. */
  add(device: Device): Promise<void>;
  /** Both resolve with whether there is such a device, once the change is durable; both reject when it is not. */
  rename(id: string, name: string): Promise<boolean>;
  remove(id: string): Promise<boolean>;
  /** Notes a use; cheap, never waited for. */
  touch(id: string, atMs: number): void;
}

export interface PairedDevices {
  list(): readonly Device[];
  /** Resolves once it is on disk, with whether there is such a device. Throws BAD_REQUEST, STORE_*. */
  rename(id: string, name: string): Promise<boolean>;
  /**
   * Shuts the device out at once: its token, its turns, its connections. Resolves once that is on disk, with whether
   * there was such a device. Rejects with STORE_* when it could not be stored; the device is shut out all the same, until
   * a restart, and still listed.
   */
  revoke(id: string): Promise<boolean>;
}

export interface DevicesDeps {
  readonly store: DeviceStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Closes the device's connections and aborts its turns. */
  readonly onRevoked: (device: Device) => void;
}

/** A revocation that could not be stored is tried again, or a restart would bring the device back. */
const RETRY_MS = 30_000;
const RETURNS = "a revoked device is shut out, but that could not be stored: a restart would let it in again";

export class Devices implements PairedDevices {
  readonly #options: DevicesDeps;
  /** All that are on disk, those shut out included. */
  readonly #byId = new Map<string, Device>();
  readonly #byClient = new Map<ClientId, Device>();
  /** Those whose token works. */
  readonly #byHash = new Map<string, Device>();
  readonly #revoking = new Map<string, Promise<boolean>>();
  /** Shut out and still on disk; each value calls the next try off. */
  readonly #unstored = new Map<string, () => void>();
  #stopped = false;

  constructor(options: DevicesDeps) {
    this.#options = options;
    for (const device of options.store.all()) this.#remember(device);
  }

  /**
   * The device a token belongs to. The lookup by hash leaks nothing through timing: an attacker who can choose a token whose
   * hash comes close to a stored one has broken SHA-256.
   */
  find(token: string): Device | undefined {
    const device = this.#byHash.get(tokenHash(token));
    if (device) this.#options.store.touch(device.id, this.#options.clock.now());
    return device;
  }

  /** The device of this id, if it may come in. */
  get(id: string): Device | undefined {
    const device = this.#byId.get(id);
    return device && this.#byHash.has(device.tokenHash) ? device : undefined;
  }

  /** The same, which is noted as seen. */
  seen(id: string): Device | undefined {
    const device = this.get(id);
    if (device) this.#options.store.touch(id, this.#options.clock.now());
    return device;
  }

  ofId(id: string): Device | undefined {
    return this.#byId.get(id);
  }

  ofClient(clientId: ClientId): Device | undefined {
    return this.#byClient.get(clientId);
  }

  /** Of the store, which knows when each was last seen; never one that `revoke` would not find. */
  list(): readonly Device[] {
    return this.#options.store.all().filter(({ id }) => this.#byId.has(id));
  }

  /** Resolves once the device is on disk, and only then its token works. */
  async add(device: Device): Promise<void> {
    await this.#options.store.add(device);
    this.#remember(device);
  }

  async rename(id: string, name: string): Promise<boolean> {
    const given = v.safeParse(DeviceName, name);
    if (!given.success) throw new SvcError("BAD_REQUEST", "A device's name is 1 to 64 printable characters.");
    if (!this.#byId.has(id) || !(await this.#options.store.rename(id, given.output))) return false;
    const device = this.#byId.get(id);
    if (device) this.#replace({ ...device, name: given.output });
    return true;
  }

  /** Concurrent calls for one device share one result. */
  revoke(id: string): Promise<boolean> {
    const device = this.#byId.get(id);
    const known = this.#revoking.get(id);
    if (known || !device) return known ?? Promise.resolve(false);
    // Shut out before anything is written: however long the disk takes, no further request passes.
    if (this.#byHash.delete(device.tokenHash)) this.#options.onRevoked(device);
    const revoking = this.#remove(device).finally(() => this.#revoking.delete(id));
    this.#revoking.set(id, revoking);
    return revoking;
  }

  /** Throws STORE_FAILED while a device is shut out here and not on disk. */
  checkStored(): void {
    if (this.#unstored.size > 0) throw notStored(undefined);
  }

  /** How many can come in. */
  get size(): number {
    return this.#byHash.size;
  }

  /** No further tries. Tells what the next start will not know. */
  stop(): void {
    this.#stopped = true;
    for (const [device, cancel] of this.#unstored) {
      cancel();
      this.#options.log.error(RETURNS, { device });
    }
    this.#unstored.clear();
  }

  async #remove({ id, clientId }: Device): Promise<boolean> {
    const { store, log } = this.#options;
    try {
      const wasThere = await store.remove(id);
      this.#unstored.get(id)?.();
      this.#unstored.delete(id);
      this.#byId.delete(id);
      this.#byClient.delete(clientId);
      log.info("a device was revoked", { device: id });
      return wasThere;
    } catch (cause) {
      this.#tryLater(id);
      throw notStored(cause);
    }
  }

  #tryLater(id: string): void {
    const { clock, log } = this.#options;
    if (this.#unstored.has(id)) this.#unstored.get(id)?.();
    else log.error(RETURNS, { device: id });
    if (this.#stopped) return;
    const tryAgain = (): void => void this.revoke(id).catch(() => {});
    this.#unstored.set(id, clock.after(RETRY_MS, tryAgain));
  }

  #remember(device: Device): void {
    this.#byHash.set(device.tokenHash, device);
    this.#byId.set(device.id, device);
    this.#byClient.set(device.clientId, device);
  }

  /** A device that is shut out stays so. */
  #replace(device: Device): void {
    if (this.#byHash.has(device.tokenHash)) this.#byHash.set(device.tokenHash, device);
    this.#byId.set(device.id, device);
    this.#byClient.set(device.clientId, device);
  }
}

function notStored(cause: unknown): SvcError {
  const code = cause instanceof SvcError ? cause.code : "STORE_FAILED";
  return new SvcError(code, "The device is shut out, but that could not be stored: a restart would let it in again.", {
    hint: "It is tried again every half minute. Make room on the disk and look at the log before you restart.",
    cause,
  });
}

// Bearer tokens: `svc_` and 64 hex digits. Only their SHA-256 is ever kept, and looked up.

/** 256 random bits; nothing about it can be guessed, so its hash needs no salt and no stretching. */
export const mintToken = (): string => `svc_${randomBytes(32).toString("hex")}`;

/** Hex SHA-256. */
export const tokenHash = (token: string): string => hash("sha256", token, "hex");

/** The token in an `Authorization` header; undefined unless it is a well-formed one of ours. */
export function bearerToken(authorization: string): string | undefined {
  return /^bearer +(svc_[0-9a-f]{64}) *$/i.exec(authorization)?.[1];
}
