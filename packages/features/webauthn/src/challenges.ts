/**
 * Challenges that carry what they were issued for, sealed with a key of this instance: a flood of starts costs no memory and
 * ends nobody else's. Only those that came back are remembered, until they would have expired anyway.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { type ClientId, type Clock, type SharedHandle, SvcError } from "@svc/contract";

export const CHALLENGE_LIFE_MS = 5 * 60_000;

/** What a challenge was issued for. */
export interface Ceremony {
  readonly purpose: "register" | "auth";
  /** Undefined: a stranger's. */
  readonly client: ClientId | undefined;
  /** Where it has to end. */
  readonly origin: string;
  /** Of a registration; of a sign-in only where one user was named. */
  readonly userId?: string;
  /** Of a registration. */
  readonly userName?: string;
  /** Of a registration: what the authenticator keeps as `user.id`. */
  readonly handle?: string;
}

export interface Begun extends Ceremony {
  /** By the wall clock. */
  readonly begunAtMs: number;
}

/** How many of one caller may come back within `CHALLENGE_LIFE_MS`. All strangers are one caller. */
export interface ChallengeLimits {
  readonly device: number;
  readonly strangers: number;
}

const LIMITS: ChallengeLimits = Object.freeze({ device: 1000, strangers: 10_000 });

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";

/**
 * By caller, by nonce: the monotonic time until which it is remembered, earliest first. Who comes back with a challenge is
 * the only writer while it is looked up and noted, so that of two with the same one exactly one goes on.
 */
export type UsedChallenges = ReadonlyMap<ClientId | undefined, ReadonlyMap<string, number>>;

export class Challenges {
  readonly #clock: Clock;
  readonly #used: SharedHandle<UsedChallenges>;
  readonly #limits: ChallengeLimits;
  readonly #key = randomBytes(32);

  constructor(clock: Clock, used: SharedHandle<UsedChallenges>, limits: ChallengeLimits = LIMITS) {
    this.#clock = clock;
    this.#used = used;
    this.#limits = limits;
  }

  /** Some hundred bytes in base64url. */
  issue(ceremony: Ceremony): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    const issued: Issued = { ...ceremony, atMs: this.#clock.monotonic(), atWallMs: this.#clock.now() };
    const sealed = Buffer.concat([cipher.update(JSON.stringify(issued)), cipher.final()]);
    return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString("base64url");
  }

  /**
   * Uses it up, whatever becomes of the ceremony. Rejects with PASSKEY_EXPIRED for one that is not ours, was used, is too
   * old, or is another caller's or purpose's: nobody learns which. Rejects with RATE_LIMITED when too many came back.
   */
  async redeem(challenge: string, purpose: Ceremony["purpose"], client: ClientId | undefined): Promise<Begun> {
    const opened = this.#open(challenge);
    if (opened === undefined) throw over();
    const { nonce, issued } = opened;
    await this.#used.write((used) => this.#useUp(used, nonce, issued.client));
    const { atMs, atWallMs, ...ceremony } = issued;
    // By both clocks: one can be set back, the other stands still while the machine sleeps.
    const ageMs = Math.max(this.#clock.monotonic() - atMs, this.#clock.now() - atWallMs);
    if (ageMs >= CHALLENGE_LIFE_MS || ceremony.purpose !== purpose || ceremony.client !== client) throw over();
    return { ...ceremony, begunAtMs: atWallMs };
  }

  #useUp(used: UsedChallenges, nonce: string, client: ClientId | undefined): UsedChallenges {
    const nowMs = this.#clock.monotonic();
    const own = used.get(client) ?? NONE;
    if (own.has(nonce)) throw over();
    const remembered = new Map([...own].filter(([, untilMs]) => untilMs > nowMs));
    if (remembered.size >= (client === undefined ? this.#limits.strangers : this.#limits.device)) {
      const [firstUntilMs = nowMs] = remembered.values();
      throw new SvcError("RATE_LIMITED", undefined, { retryAfterMs: firstUntilMs - nowMs });
    }
    const others = [...used].filter(([who, nonces]) => who !== client && newest(nonces) > nowMs);
    return new Map([...others, [client, remembered.set(nonce, nowMs + CHALLENGE_LIFE_MS)]]);
  }

  #open(challenge: string): { readonly nonce: string; readonly issued: Issued } | undefined {
    const bytes = Buffer.from(challenge, "base64url");
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, nonce).setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      return { nonce: nonce.toString("base64url"), issued: JSON.parse(text.toString()) as Issued };
    } catch {
      return undefined;
    }
  }
}

interface Issued extends Ceremony {
  readonly atMs: number;
  readonly atWallMs: number;
}

const NONE: ReadonlyMap<string, number> = new Map();

const newest = (nonces: ReadonlyMap<string, number>): number => Math.max(...nonces.values());

const over = (): SvcError => new SvcError("PASSKEY_EXPIRED", undefined, { hint: "Begin again." });
