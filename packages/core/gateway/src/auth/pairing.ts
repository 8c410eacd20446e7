/** Turns a code that a person copied into a device with a token of its own. */
import { randomInt, randomUUID, timingSafeEqual } from "node:crypto";
import { networkInterfaces } from "node:os";
import { type Clock, type Logger, SvcError } from "@svc/contract";
import type { Device, Scope } from "@svc/store";
import { isPublicBind, localUrl } from "../http/connections.ts";
import { mintClientId } from "../identity.ts";
import { type Client, Lockout } from "../client.ts";
import { type Devices, mintToken, tokenHash } from "./authenticator.ts";

const WRONG_CODES = 5;
/** Wrong codes of a client that tries this seldom are a person's typing mistakes. */
const WINDOW_MS = 900_000;
const LOCKOUT_MS = 300_000;

export interface PairingDeps {
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
  readonly #options: PairingDeps;
  readonly #codes = new PairingCodes();
  readonly #lockout = new Lockout({ maxFailures: WRONG_CODES, windowMs: WINDOW_MS, lockoutMs: LOCKOUT_MS });

  constructor(options: PairingDeps) {
    this.#options = options;
  }

  /** A code for one more device. Several may be live at a time. */
  issueCode(request: { readonly scope: Scope; readonly name?: string | undefined }): IssuedCode {
    const { clock } = this.#options;
    const issued = this.#codes.issue(request.scope, request.name, clock.monotonic());
    return { code: issued.code, expiresAt: clock.now() + (issued.expiresAtMs - clock.monotonic()) };
  }

  /** Number of codes that are valid now. */
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

// Pairing codes: six digits, one use, ten minutes, burnt by thirty wrong tries. Held in memory only.

export interface PairingCode {
  readonly code: string;
  readonly scope: Scope;
  /** Name the operator gave the device in advance. */
  readonly name: string | undefined;
  /** Monotonic milliseconds. */
  readonly expiresAtMs: number;
}

export const CODE_TTL_MS = 600_000;
const MAX_WRONG_TRIES = 30;
/** Every live code is one more that a guess can hit: with eight, thirty guesses hit one in 4200 times. */
export const MAX_LIVE_CODES = 8;

interface Live extends PairingCode {
  wrongTries: number;
}

export class PairingCodes {
  #live: Live[] = [];

  /** A new code. Several may be live; beyond `MAX_LIVE_CODES` the oldest stops working. */
  issue(scope: Scope, name: string | undefined, nowMs: number): PairingCode {
    this.#dropExpired(nowMs);
    if (this.#live.length >= MAX_LIVE_CODES) this.#live.shift();
    let code: string;
    do code = String(randomInt(1_000_000)).padStart(6, "0");
    while (this.#live.some((live) => live.code === code));
    const issued = { code, scope, name, expiresAtMs: nowMs + CODE_TTL_MS, wrongTries: 0 };
    this.#live.push(issued);
    return issued;
  }

  /** How many could be guessed now. */
  live(nowMs: number): number {
    this.#dropExpired(nowMs);
    return this.#live.length;
  }

  /**
   * Consumes a code. A wrong one counts against every live code; `burnt` is how many codes that ended. Input that is not six
   * digits is not a guess and burns nothing: a scanner must not be able to invalidate the owner's code.
   */
  take(presented: string, nowMs: number): { found: PairingCode | undefined; burnt: number } {
    this.#dropExpired(nowMs);
    if (!/^\d{6}$/.test(presented)) return { found: undefined, burnt: 0 };
    const guess = Buffer.from(presented, "latin1");
    let found: Live | undefined;
    for (const live of this.#live) {
      // All are compared, each in constant time: how long a wrong try takes says nothing about how near it was.
      if (timingSafeEqual(guess, Buffer.from(live.code, "latin1"))) found = live;
    }
    if (found) {
      this.#live = this.#live.filter((live) => live !== found);
      return { found, burnt: 0 };
    }
    const before = this.#live.length;
    for (const live of this.#live) live.wrongTries += 1;
    this.#live = this.#live.filter((live) => live.wrongTries < MAX_WRONG_TRIES);
    return { found: undefined, burnt: before - this.#live.length };
  }

  /** Puts a code back that was taken but could not be turned into a device, with the tries it had. */
  giveBack(code: PairingCode, nowMs: number): void {
    if (code.expiresAtMs > nowMs) this.#live.push(code as Live);
  }

  #dropExpired(nowMs: number): void {
    this.#live = this.#live.filter((live) => live.expiresAtMs > nowMs);
  }
}

// Links that sign a browser in by one click. The code is in the fragment: no server, proxy or log gets to see it.

export interface PairingLinks {
  /** For a browser on this machine. */
  readonly local: string;
  /** For a browser on another machine; undefined: the gateway listens on loopback only and has no `public_url`. */
  readonly remote: string | undefined;
}

export interface PairingLinkOptions {
  readonly code: string;
  /** The address listened on. */
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
}

export function pairingLinks({ code, host, port, publicUrl }: PairingLinkOptions): PairingLinks {
  const base = publicUrl ?? (isPublicBind(host) ? networkUrl(host, port) : undefined);
  return { local: linkOn(localUrl(host, port), code), remote: base === undefined ? undefined : linkOn(base, code) };
}

const linkOn = (base: string, code: string): string => `${new URL(base).origin}/#pair=${code}`;

/** The address listened on; of all addresses the first one that other machines can reach. */
function networkUrl(host: string, port: number): string | undefined {
  const isAny = host === "0.0.0.0" || host === "::" || host.trim() === "";
  const address = isAny ? firstAddress() : host;
  return address === undefined ? undefined : localUrl(address, port);
}

const firstAddress = (): string | undefined =>
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one !== undefined && !one.internal && one.family === "IPv4")?.address;
