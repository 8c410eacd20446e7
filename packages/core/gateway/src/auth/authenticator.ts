/** Who is calling: tokens, sign-ins of the page, scopes, and the lockout of clients that keep guessing. */
import type { IncomingHttpHeaders } from "node:http";
import type { Clock, Logger } from "@svc/contract";
import type { Author, Device, Scope } from "@svc/store";
import { errorReply, Reply } from "../http/reply.ts";
import type { Client } from "../middleware/client.ts";
import { Lockout, type SlidingWindow } from "../rate-limit.ts";
import { bearerToken, type Devices } from "./devices.ts";
import { type PageSessions, type PageSignIn, sentCookie } from "./page-sessions.ts";
import { isNobodyElses, type PageHandover } from "./page-sign-in.ts";

/** What a path asks for: to post messages, to read, to change something, or only to be known. */
export type Need = "webhook" | "read" | "operate" | "connect";

const OPENS: Readonly<Record<Scope, readonly Need[]>> = {
  operator: ["webhook", "read", "operate", "connect"],
  webhook: ["webhook", "connect"],
  read: ["read", "connect"],
};

export const opens = (scope: Scope, need: Need): boolean => OPENS[scope].includes(need);

const BAD_BEARERS = 10;
const WINDOW_MS = 60_000;
const LOCKOUT_MS = 300_000;

/** Why no principal was found. Only "wrong" counts as a guess. */
type Unknown = "nothing" | "wrong" | "several" | "ended";

const UNKNOWN: Readonly<Record<Unknown, Reply>> = {
  nothing: errorReply("UNAUTHORIZED"),
  wrong: errorReply("UNAUTHORIZED"),
  several: errorReply("UNAUTHORIZED", {
    message: "Two svc_session cookies were sent, and only one can be right; delete the cookies of this host.",
  }),
  ended: errorReply("UNAUTHORIZED", { message: "The page was signed out." }),
};

export class Authenticator {
  readonly #devices: Devices;
  readonly #pageSessions: PageSessions;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #lockout = new Lockout({ maxFailures: BAD_BEARERS, windowMs: WINDOW_MS, lockoutMs: LOCKOUT_MS });

  constructor(devices: Devices, pageSessions: PageSessions, clock: Clock, log: Logger) {
    this.#devices = devices;
    this.#pageSessions = pageSessions;
    this.#clock = clock;
    this.#log = log;
  }

  /** Who it is, or the refusal: 429 LOCKED_OUT, 401, 403 FORBIDDEN_SCOPE. */
  require(credentials: Credentials, client: Client, need: Need): Principal | Reply {
    const met = this.meet(credentials, client);
    if (met === undefined) return UNKNOWN.nothing;
    return met instanceof Reply || opens(met.device.scope, need) ? met : errorReply("FORBIDDEN_SCOPE");
  }

  /** For public routes: undefined for a caller without credentials. Wrong credentials still count as a guess. */
  meet(credentials: Credentials, client: Client): Principal | Reply | undefined {
    const waitMs = this.#lockedMs(client);
    if (waitMs > 0) return errorReply("LOCKED_OUT", { retryAfterMs: waitMs });
    const found = this.#find(credentials);
    if (typeof found !== "string") return found;
    if (found === "wrong") this.#failed(client);
    return found === "nothing" ? undefined : UNKNOWN[found];
  }

  /**
   * The page that a cookie is of, with its second secret: for requests that our own page sent. A cookie that opens nothing
   * is what a browser has left of an older sign-in, and no guess. Refuses 429 LOCKED_OUT, 401, 403 FORBIDDEN_SCOPE.
   */
  resume(cookie: string | undefined, client: Client): (PageHandover & Principal) | Reply {
    const waitMs = this.#lockedMs(client);
    if (waitMs > 0) return errorReply("LOCKED_OUT", { retryAfterMs: waitMs });
    const sent = sentCookie(cookie);
    if (sent === undefined) return UNKNOWN.nothing;
    if (sent === "several") return UNKNOWN.several;
    const found = this.#pageSessions.resume(sent);
    if (found === "ended") return UNKNOWN.ended;
    return opens(found.device.scope, "read") ? { ...found, cookie: sent } : errorReply("FORBIDDEN_SCOPE");
  }

  /** The device of a token, where one is welcome but not demanded. */
  deviceOf(authorization: string | undefined): Device | undefined {
    const token = authorization === undefined ? undefined : bearerToken(authorization);
    return token === undefined ? undefined : this.#devices.find(token);
  }

  /** A token goes before a sign-in: who sends one means it. */
  #find({ authorization, cookie, "x-svc-csrf": csrf }: Credentials): Principal | Unknown {
    if (authorization !== undefined) {
      const device = this.deviceOf(authorization);
      return device === undefined ? "wrong" : { device };
    }
    const sent = sentCookie(cookie);
    // Each of the two is nothing without the other: browsers send cookies of themselves, and who sends none opens nothing.
    if (typeof csrf !== "string" || sent === undefined) return "nothing";
    return sent === "several" ? "several" : this.#pageSessions.find({ cookie: sent, csrf });
  }

  #lockedMs(client: Client): number {
    return client.isLoopback ? 0 : this.#lockout.waitMs(client.limiterKey, this.#clock.monotonic());
  }

  #failed(client: Client): void {
    if (client.isLoopback) return;
    if (this.#lockout.fail(client.limiterKey, this.#clock.monotonic())) {
      this.#log.warn("a client is locked out for five minutes: too many wrong tokens", { client: client.limiterKey });
    }
  }
}

// Access to public routes: our own pages and programs, no pages of other sites, and no client more often than a person
// needs it.

export interface PublicAccessDeps {
  readonly authenticator: Authenticator;
  /** Of all open routes together; it outlives a reload. */
  readonly limit: SlidingWindow;
  readonly clock: Clock;
}

export class PublicAccess {
  readonly #deps: PublicAccessDeps;

  constructor(deps: PublicAccessDeps) {
    this.#deps = deps;
  }

  /** Who it is, undefined for a stranger, or the refusal: 403 BAD_ORIGIN, 429, 401 for a token that is wrong. */
  admit(headers: IncomingHttpHeaders, client: Client): Principal | Reply | undefined {
    const { authenticator, limit, clock } = this.#deps;
    // Before the limit: a foreign site that makes its visitors' browsers call here must not use up the visitors' quota.
    if (!isNobodyElses(headers)) return errorReply("BAD_ORIGIN");
    const waitMs = limit.take(client.limiterKey, clock.monotonic());
    if (waitMs > 0) return errorReply("RATE_LIMITED", { retryAfterMs: waitMs });
    return authenticator.meet(headers, client);
  }
}

// By what a request may prove who sends it.

export type Credentials = Pick<IncomingHttpHeaders, "authorization" | "cookie"> & {
  readonly "x-svc-csrf"?: string | string[] | undefined;
};

/** A token alone: for paths that programs call, and no page does. */
export const tokenOnly = ({ authorization }: IncomingHttpHeaders): Credentials => ({ authorization });

/**
 * Credentials of a WebSocket handshake. A page can't set its headers, so the token, or the value of `X-Svc-Csrf`, is among
 * the protocols: `bearer.<token>`, `csrf.<value>`. If either appears twice, neither value is accepted.
 */
export function upgradeCredentials(headers: IncomingHttpHeaders): Credentials {
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((one) => one.trim());
  const after = (prefix: string): string | undefined => {
    const values = offered.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length));
    return values.length === 0 ? undefined : values.join(" ");
  };
  const token = after("bearer.");
  return {
    authorization: headers.authorization ?? (token === undefined ? undefined : `Bearer ${token}`),
    cookie: headers.cookie,
    "x-svc-csrf": headers["x-svc-csrf"] ?? after("csrf."),
  };
}

// Who is calling, and by what that was proved.

export interface Principal {
  readonly device: Device;
  /** The sign-in of the page that was used; undefined: it was a token. What runs on it ends with it. */
  readonly signIn?: PageSignIn | undefined;
}

/** As the writer of a message. */
export const authorOf = ({ id, name }: Device): Author => ({ kind: "device", id, name });
