/** Who is calling: the check of the bearer token, its scope, and the lockout of clients that keep guessing. */
import type { Clock, Logger } from "@svc/contract";
import type { Device, Scope } from "@svc/store";
import { errorReply, Reply } from "../http/reply.ts";
import { Lockout } from "../limits/lockout.ts";
import type { Client } from "../net/client.ts";
import { bearerToken } from "./bearer.ts";
import type { Devices } from "./devices.ts";

/** What a path asks for: to post messages, to read, or to change something. */
export type Need = "webhook" | "read" | "operate";

const OPENS: Readonly<Record<Scope, readonly Need[]>> = {
  operator: ["webhook", "read", "operate"],
  webhook: ["webhook"],
  read: ["read"],
};

const BAD_BEARERS = 10;
const WINDOW_MS = 60_000;
const LOCKOUT_MS = 300_000;

export class Authenticator {
  readonly #devices: Devices;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #lockout = new Lockout({ maxFailures: BAD_BEARERS, windowMs: WINDOW_MS, lockoutMs: LOCKOUT_MS });

  constructor(devices: Devices, clock: Clock, log: Logger) {
    this.#devices = devices;
    this.#clock = clock;
    this.#log = log;
  }

  /** The device, or the refusal: 429 LOCKED_OUT, 401, 403 FORBIDDEN_SCOPE. */
  require(authorization: string | undefined, client: Client, need: Need): Device | Reply {
    const waitMs = client.isLoopback ? 0 : this.#lockout.waitMs(client.limiterKey, this.#clock.monotonic());
    if (waitMs > 0) return errorReply("LOCKED_OUT", { retryAfterMs: waitMs });
    // Nothing presented is nothing guessed: it takes no try.
    if (authorization === undefined) return errorReply("UNAUTHORIZED");
    const device = this.identify(authorization);
    if (device === undefined) {
      this.#failed(client);
      return errorReply("UNAUTHORIZED");
    }
    return OPENS[device.scope].includes(need) ? device : errorReply("FORBIDDEN_SCOPE");
  }

  /** The device of a token, where one is welcome but not demanded. */
  identify(authorization: string | undefined): Device | undefined {
    const token = authorization === undefined ? undefined : bearerToken(authorization);
    return token === undefined ? undefined : this.#devices.find(token);
  }

  #failed(client: Client): void {
    if (client.isLoopback) return;
    if (this.#lockout.fail(client.limiterKey, this.#clock.monotonic())) {
      this.#log.warn("a client is locked out for five minutes: too many wrong bearer tokens", {
        client: client.limiterKey,
      });
    }
  }
}
