/** Turns a code that a person copied into a device with a token of its own. */
import { randomUUID } from "node:crypto";
import { SvcError, type Clock, type Logger } from "@svc/contract";
import type { Device, Scope } from "@svc/store";
import { mintToken, tokenHash } from "../auth/bearer.ts";
import type { Devices } from "../auth/devices.ts";
import { mintClientId } from "../identity.ts";
import { Lockout } from "../limits/lockout.ts";
import type { Client } from "../net/client.ts";
import { PairingCodes } from "./codes.ts";

const WRONG_CODES = 5;
/** Wrong codes of a client that tries this seldom are a person's typing mistakes. */
const WINDOW_MS = 900_000;
const LOCKOUT_MS = 300_000;

export interface PairingOptions {
  readonly devices: Devices;
  /** As it is configured now. */
  readonly requirePairing: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface IssuedCode {
  readonly code: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface WantedDevice {
  /** As its owner calls it; the name that came with the code goes first. */
  readonly name?: string;
  readonly defaultName?: string;
  /** Those that are of any use; default: all. */
  readonly scopes?: readonly Scope[];
}

export interface Paired {
  readonly token: string;
  readonly device: Device;
}

export class Pairing {
  readonly #options: PairingOptions;
  readonly #codes = new PairingCodes();
  readonly #lockout = new Lockout({ maxFailures: WRONG_CODES, windowMs: WINDOW_MS, lockoutMs: LOCKOUT_MS });

  constructor(options: PairingOptions) {
    this.#options = options;
  }

  /** A code for one more device. Several may be live at a time. */
  issueCode(request: { readonly scope: Scope; readonly name?: string | undefined }): IssuedCode {
    const { clock } = this.#options;
    const issued = this.#codes.issue(request.scope, request.name, clock.monotonic());
    return { code: issued.code, expiresAt: clock.now() + (issued.expiresAtMs - clock.monotonic()) };
  }

  /** Codes that somebody could come in with now. */
  get liveCodes(): number {
    return this.#codes.live(this.#options.clock.monotonic());
  }

  /** A code to print at start: only when pairing is required and no device is paired yet. */
  initialCode(): IssuedCode | undefined {
    if (!this.#options.requirePairing() || this.#options.devices.size > 0) return undefined;
    return this.issueCode({ scope: "operator" });
  }

  /**
   * Throws BAD_PAIRING_CODE, LOCKED_OUT (also for the right code), FORBIDDEN_SCOPE or INTERNAL: when the device can't be
   * stored, nothing is kept and the code works again.
   */
  async pair(code: string, client: Client, wanted: WantedDevice = {}): Promise<Paired> {
    const { clock, devices, log } = this.#options;
    const waitMs = this.#lockout.waitMs(client.limiterKey, clock.monotonic());
    if (waitMs > 0) throw new SvcError("LOCKED_OUT", undefined, { retryAfterMs: waitMs });
    // Taken before the write: of two requests with one code, the second is wrong already while the first is stored.
    const { found, burnt } = this.#codes.take(code, clock.monotonic());
    if (burnt > 0) log.warn("a pairing code stopped working after thirty wrong tries; `svc pair` makes a new one");
    if (!found) throw this.#wrongCode(client);
    if (wanted.scopes?.includes(found.scope) === false) {
      this.#codes.giveBack(found, clock.monotonic());
      throw new SvcError("FORBIDDEN_SCOPE", "The device that this pairing code makes may not do this.");
    }

    const token = mintToken();
    const device: Device = {
      id: randomUUID(),
      tokenHash: tokenHash(token),
      clientId: mintClientId(),
      name: found.name ?? wanted.name ?? wanted.defaultName ?? "device",
      scope: found.scope,
      createdAt: clock.now(),
      lastSeenAt: undefined,
    };
    try {
      await devices.add(device);
    } catch (cause) {
      this.#codes.giveBack(found, clock.monotonic());
      throw new SvcError("INTERNAL", "The device could not be stored; nothing was kept.", { cause });
    }
    this.#lockout.clear(client.limiterKey);
    log.info("a device was paired", { device: device.id, scope: device.scope });
    return { token, device };
  }

  #wrongCode(client: Client): SvcError {
    if (this.#lockout.fail(client.limiterKey, this.#options.clock.monotonic())) {
      this.#options.log.warn("a client is locked out of pairing for five minutes: too many wrong codes", {
        client: client.limiterKey,
      });
    }
    return new SvcError("BAD_PAIRING_CODE");
  }
}
